public import Crypto
import StrictJSON

/// A property with a public key that is encoded as its X9.63 point of 65 bytes.
@propertyWrapper
public struct CodedPublicKey: Codable, Hashable, Sendable {
    public var wrappedValue: P256.Signing.PublicKey

    public init(wrappedValue: P256.Signing.PublicKey) { self.wrappedValue = wrappedValue }

    /// - Throws: for bytes that are not a point on P-256.
    public init(from decoder: any Decoder) throws {
        let point = try decoder.singleValueContainer().decode([UInt8].self)
        guard let key = try? P256.Signing.PublicKey(x963Representation: point) else {
            throw JSONReadError(.invalid("must be a point on P-256"))
        }
        wrappedValue = key
    }

    public func encode(to encoder: any Encoder) throws {
        try Array(wrappedValue.x963Representation).encode(to: encoder)
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.wrappedValue.rawRepresentation == other.wrappedValue.rawRepresentation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue.rawRepresentation) }
}
