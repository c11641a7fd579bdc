import Crypto
import SigningKit

/// A SubjectPublicKeyInfo in DER (RFC 5480 §2).
enum PublicKeyDER {
    static func read(_ der: [UInt8]) throws(CandidateKeyError) -> P256.Signing.PublicKey {
        guard let key = P256.Signing.PublicKey(subjectPublicKeyInfo: der) else { throw .notP256(kind(of: der)) }
        return key
    }

    /// Guesses the kind of key from the object identifiers in the DER, for the error message.
    private static func kind(of der: [UInt8]) -> String {
        let head = Array(der.prefix(64))
        if let known = known.first(where: { holds(head, $0.identifier) }) { return known.name }
        if holds(head, ecPublicKey + [0x30]) { return "a key with explicit curve parameters" }
        return holds(head, ecPublicKey) ? "a key on another curve" : "something that is not a SubjectPublicKeyInfo"
    }

    private static let known: [(name: String, identifier: [UInt8])] = [
        ("an RSA key", [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]),
        ("a key on secp256k1", [0x2B, 0x81, 0x04, 0x00, 0x0A]),
        ("a key on P-384", [0x2B, 0x81, 0x04, 0x00, 0x22]),
        ("a key on P-521", [0x2B, 0x81, 0x04, 0x00, 0x23]),
        ("an Ed25519 key", [0x2B, 0x65, 0x70]),
        ("a damaged P-256 key", ecPublicKey + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
    ]

    /// The OID 1.2.840.10045.2.1.
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    private static func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
    }
}
