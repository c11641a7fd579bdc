/// The coding keys of a type that refuses members with other names.
public protocol ClosedCodingKey: CodingKey, CaseIterable {}

extension ClosedCodingKey {
    fileprivate static var names: [String] { allCases.map(\.stringValue) }
}

extension JSONValue {
    /// Decodes exactly the kind that the type asks for. Null is a value of the wrong kind, except for an optional that is
    /// decoded as such. Unknown members are ignored, unless the type's keys are `ClosedCodingKey`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(JSONReadError) -> Value {
        do {
            if let scalar = try scalar(type) { return scalar }
            let value = try Value(from: JSONValueDecoder(value: self))
            // Two strings are equal if they are canonically equivalent, so compare bytes.
            if kind == .string, let choice = value as? any RawRepresentable<String>,
                !choice.rawValue.utf8.elementsEqual(try string().utf8)
            {
                throw JSONReadError(.invalid("is not a known value"))
            }
            return value
        } catch let error as JSONReadError {
            throw error
        } catch {
            // The standard library throws it for a raw value that an enumeration does not have.
            throw JSONReadError(.invalid("is not a known value"))
        }
    }

    /// Nil for a type that is not a scalar.
    private func scalar<Value>(_ type: Value.Type) throws -> Value? {
        if type == String.self { return try string() as? Value }
        if type == Bool.self { return try boolean() as? Value }
        switch type {
        case let integer as any FixedWidthInteger.Type:
            guard let value = integer.init(exactly: try self.integer()) else {
                throw JSONReadError(.invalid("is out of range"))
            }
            return value as? Value
        case let number as any BinaryFloatingPoint.Type:
            guard kind == .number, let value = Double(String(decoding: rawBytes, as: UTF8.self)), value.isFinite else {
                throw JSONReadError(.invalid("must be a number"))
            }
            return number.init(value) as? Value
        default: return nil
        }
    }
}

extension JSONObject {
    public func decode<Value: Decodable>(_ name: String) throws(JSONReadError) -> Value {
        try required(name) { value throws(JSONReadError) in try value.decode() }
    }

    /// Nil without the member.
    public func decodeIfPresent<Value: Decodable>(_ name: String) throws(JSONReadError) -> Value? {
        try optional(name) { value throws(JSONReadError) in try value.decode() }
    }
}

private struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let object = try value.anyObject()
        if let keys = type as? any ClosedCodingKey.Type { try object.refuseUnknown(besides: keys.names) }
        return KeyedDecodingContainer(ObjectContainer(object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ArrayContainer(elements: try value.elements())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.kind == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value.decode(type) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    /// By the bytes of their names; nil for an object with few members. A dictionary asks for each of its members.
    private let members: [[UInt8]: JSONValue]?
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.names.compactMap(Key.init(stringValue:)) }

    private static var fewMembers: Int { 16 }

    init(object: JSONObject) {
        self.object = object
        members =
            object.hasMore(than: Self.fewMembers)
            ? Dictionary(object.members.map { (Array($0.name.utf8), $0.value) }) { first, _ in first } : nil
    }

    private func member(_ key: Key) throws -> JSONValue {
        guard let members else { return try object.required(key.stringValue) { $0 } }
        guard let value = members[Array(key.stringValue.utf8)] else {
            throw JSONReadError(.missing, at: key.stringValue)
        }
        return value
    }

    func contains(_ key: Key) -> Bool { (try? member(key)) != nil }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let value = try member(key)
        do { return try value.decode(type) } catch { throw error.inside(key.stringValue) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        JSONValueDecoder(value: JSONValue(document: object.document, index: object.index))
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> JSONValueDecoder {
        JSONValueDecoder(value: try member(key))
    }
}

private struct ArrayContainer: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    init(elements: [JSONValue]) { self.elements = elements }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do { return try next().value.decode(type) } catch let error as JSONReadError {
            throw error.inside(index: currentIndex - 1)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> JSONValueDecoder {
        guard currentIndex < elements.count else { throw JSONReadError(.missing) }
        defer { currentIndex += 1 }
        return JSONValueDecoder(value: elements[currentIndex])
    }
}

/// A type with an empty value, which `init()` makes.
public protocol Emptiable: Equatable {
    init()
}

extension Int: Emptiable {}
extension Array: Emptiable where Element: Equatable {}
extension Dictionary: Emptiable where Value: Equatable {}

/// A property whose JSON member is absent while the property is empty: 0, `[]` or `[:]`.
@propertyWrapper
public struct OmittedIfEmpty<Value: Emptiable & Codable & Sendable>: Codable, Equatable, Sendable {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

// Synthesized conformances call these functions instead of the general ones.

extension KeyedEncodingContainer {
    public mutating func encode<Value>(_ property: OmittedIfEmpty<Value>, forKey key: Key) throws {
        guard property.wrappedValue != Value() else { return }
        try encode(property.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    public func decode<Value>(
        _ type: OmittedIfEmpty<Value>.Type, forKey key: Key
    ) throws -> OmittedIfEmpty<Value> {
        OmittedIfEmpty(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? Value())
    }
}
