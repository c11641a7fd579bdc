/// Encodes `Encodable` values as compact JSON (RFC 8259). Members appear in the order in which the type encodes them,
/// and those of a dictionary in the order of their names. An optional that is nil is an absent member.
///
/// It never fails: a number that JSON cannot express, such as infinity, becomes null.
public enum JSONText {
    public static func encode(_ value: some Encodable) -> [UInt8] {
        let element = JSONElement()
        // `JSONElement` throws no errors, and no type of this package throws any of its own.
        try? element.encode(value)
        var writer = JSONWriter()
        element.write(to: &writer)
        return writer.bytes
    }

    /// The same as a string, for output.
    public static func string(_ value: some Encodable) -> String { String(decoding: encode(value), as: UTF8.self) }
}

/// An object for output, as a literal. Its members keep their order, and those that are nil are absent.
public struct JSONMembers: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [(name: String, value: (any Encodable)?)]

    public init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        self.members = members.map { ($0.0, $0.1) }
    }

    /// For names that are known only at run time. A name may occur several times.
    public init(_ members: some Sequence<(String, (any Encodable)?)>) {
        self.members = members.map { ($0.0, $0.1) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            if let value { try container.encode(value, forKey: Name(stringValue: name)) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A value while it is encoded. It is a class, because an encoder and its containers change the same value.
final class JSONElement {
    private enum Content {
        case text(String)
        /// A value as JSON writes it.
        case raw(String)
        case object, array
    }

    private var content = Content.raw("null")
    /// The members of an object, or the elements of an array, which have no names.
    private var parts: [(name: String, value: JSONElement)] = []

    func write(to writer: inout JSONWriter) {
        switch content {
        case .text(let text): writer.string(text)
        case .raw(let json): writer.raw(json.utf8)
        case .object:
            writer.object { writer in
                for (name, value) in parts {
                    writer.name(escaping: name)
                    value.write(to: &writer)
                }
            }
        case .array: writer.array { writer in for part in parts { part.value.write(to: &writer) } }
        }
    }

    func encode(_ value: some Encodable) throws {
        switch value {
        case let text as String: content = .text(text)
        case let flag as Bool: content = .raw("\(flag)")
        case let integer as any BinaryInteger: content = .raw("\(integer)")
        case let number as any BinaryFloatingPoint:
            let number = Double(number)
            content = .raw(number.isFinite ? "\(number)" : "null")
        case let members as [String: any Encodable]:
            content = .object
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { try member(name).encode(value) }
        default: try value.encode(to: self)
        }
    }

    /// Adds a member, or an element without a name.
    fileprivate func member(_ name: String = "") -> JSONElement {
        let value = JSONElement()
        parts.append((name, value))
        return value
    }

    fileprivate var count: Int { parts.count }
}

extension JSONElement: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A type may ask for several containers of one object: all add to the same members.
        content = .object
        return KeyedEncodingContainer(ObjectContainer<Key>(element: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        content = .array
        return ArrayContainer(element: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONElement: SingleValueEncodingContainer {
    func encodeNil() { content = .raw("null") }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let element: JSONElement
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { element.member(key.stringValue).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws { try element.member(key.stringValue).encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
        Nested
    > {
        element.member(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        element.member(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { element.member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { element.member(key.stringValue) }
}

private struct ArrayContainer: UnkeyedEncodingContainer {
    let element: JSONElement
    var codingPath: [any CodingKey] { [] }
    var count: Int { element.count }

    func encodeNil() { element.member().encodeNil() }

    func encode(_ value: some Encodable) throws { try element.member().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element.member().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element.member().unkeyedContainer() }

    func superEncoder() -> any Encoder { element.member() }
}
