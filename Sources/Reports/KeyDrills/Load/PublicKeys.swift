import Crypto
import Encodings
public import SigningKit
import StrictJSON

/// A gateway's public keys by ID, from its `/.well-known/jwks.json` (RFC 7517 §5).
///
/// Keys are never removed or replaced. A key that the gateway no longer shows still verifies its earlier signatures. If
/// an ID later has another key, the first key stays.
public struct PublicKeys: Sendable {
    private(set) var keys: [String: P256.Signing.PublicKey] = [:]
    /// The IDs that had another key later.
    public private(set) var changed: Set<String> = []

    init(_ keys: [String: P256.Signing.PublicKey] = [:]) {
        self.keys = keys
    }

    public func fingerprint(of keyID: String) -> PublicKeyFingerprint? {
        keys[keyID].map { PublicKeyFingerprint(of: $0) }
    }

    /// Adds the keys of a key set.
    ///
    /// - Throws: `JSONSyntaxError` or `JSONReadError` if the bytes are not a key set.
    mutating func add(jwks bytes: [UInt8]) throws {
        for member in try JSONDocument(parsing: bytes).root.decode(KeySet.self).keys {
            // RFC 7518 §6.2.1.2: 32 bytes each.
            guard let x = Base64.url.decode(member.x.utf8), let y = Base64.url.decode(member.y.utf8), x.count == 32,
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { throw JSONReadError(.invalid("is not a point of P-256"), at: "x") }
            if let known = keys[member.kid], known.rawRepresentation != key.rawRepresentation {
                changed.insert(member.kid)
            }
            keys[member.kid] = keys[member.kid] ?? key
        }
    }

    private struct KeySet: Decodable {
        struct Member: Decodable {
            let kid, x, y: String
        }

        let keys: [Member]
    }
}
