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
