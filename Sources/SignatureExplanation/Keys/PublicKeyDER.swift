import Crypto

/// A SubjectPublicKeyInfo in DER (RFC 5480 §2).
enum PublicKeyDER {
    static func read(_ der: [UInt8]) throws(CandidateKeyError) -> P256.Signing.PublicKey {
        guard let key = try? P256.Signing.PublicKey(derRepresentation: der) else { throw .notP256(kind(of: der)) }
        return key
    }

    /// What the DER seems to be, from the object identifiers in it: enough for a sentence.
    private static func kind(of der: [UInt8]) -> String {
        let known: [(name: String, identifier: [UInt8])] = [
            ("an RSA key", [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]),
            ("a key on secp256k1", [0x2B, 0x81, 0x04, 0x00, 0x0A]),
            ("a key on P-384", [0x2B, 0x81, 0x04, 0x00, 0x22]),
            ("a key on P-521", [0x2B, 0x81, 0x04, 0x00, 0x23]),
            ("an Ed25519 key", [0x2B, 0x65, 0x70]),
            ("a damaged P-256 key", [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
        ]
        let head = Array(der.prefix(64))
        return known.first { holds(head, $0.identifier) }?.name ?? "something that is no SubjectPublicKeyInfo"
    }

    private static func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
    }
}
