public import Crypto
import Encodings
public import SigningKit
import StrictJSON

/// A gateway's public keys by ID, from its `/.well-known/jwks.json` (RFC 7517 §5).
///
/// Keys are never removed or replaced. A key that the gateway no longer shows still verifies its earlier signatures. If
/// an ID later has another key, the first key stays.
public struct PublicKeys: Sendable {
    public private(set) var keys: [String: P256.Signing.PublicKey] = [:]
    /// The IDs that had another key later.
    public private(set) var changed: Set<String> = []

    public init() {}

    public init(_ keys: [String: P256.Signing.PublicKey]) {
        self.keys = keys
    }

    public func fingerprint(of keyID: String) -> PublicKeyFingerprint? {
        keys[keyID].map { PublicKeyFingerprint(of: $0) }
    }

    /// Adds the keys of a key set.
    ///
    /// - Throws: `JSONSyntaxError` or `JSONReadError` if the bytes are not a key set.
    public mutating func add(jwks bytes: [UInt8]) throws {
        let root = try JSONDocument(parsing: bytes).root.anyObject()
        let list = try root.required("keys") { value throws(JSONReadError) in try value.elements() }
        for element in list {
            let object = try element.anyObject()
            let point = try Self.coordinate(object, "x") + Self.coordinate(object, "y")
            guard let key = try? P256.Signing.PublicKey(rawRepresentation: point) else {
                throw JSONReadError(.invalid("is not a point of P-256"), at: "x")
            }
            let keyID: String = try object.decode("kid")
            if let known = keys[keyID], known.rawRepresentation != key.rawRepresentation { changed.insert(keyID) }
            keys[keyID] = keys[keyID] ?? key
        }
    }

    /// RFC 7518 §6.2.1.2: 32 bytes.
    private static func coordinate(_ object: JSONObject, _ name: String) throws(JSONReadError) -> [UInt8] {
        let text: String = try object.decode(name)
        guard let bytes = Base64.url.decode(text.utf8), bytes.count == 32 else {
            throw JSONReadError(.invalid("must be 32 bytes in Base64url"), at: name)
        }
        return bytes
    }
}
