public import Crypto

/// A private key that only one token can open: it is encrypted under an AES key, and that one under the token's RSA key.
public struct WrappedKey: Hashable, Sendable {
    /// The SHA-256 of the RSA key's SubjectPublicKeyInfo.
    public let wrappingKey: PublicKeyFingerprint
    /// Of the key inside; what it has to prove that it is.
    public let publicKey: P256.Signing.PublicKey
    /// An AES-256 key under RSA-OAEP (RFC 8017 §7.1) with SHA-1, MGF1 with SHA-1 and no label.
    public let encryptedAESKey: [UInt8]
    /// PKCS #8 in DER under the AES key, by AES-KWP (RFC 5649).
    public let encryptedKey: [UInt8]

    public init(
        wrappingKey: PublicKeyFingerprint, publicKey: P256.Signing.PublicKey, encryptedAESKey: [UInt8],
        encryptedKey: [UInt8]
    ) {
        self.wrappingKey = wrappingKey
        self.publicKey = publicKey
        self.encryptedAESKey = encryptedAESKey
        self.encryptedKey = encryptedKey
    }

    public static func == (one: WrappedKey, other: WrappedKey) -> Bool {
        one.wrappingKey == other.wrappingKey && one.encryptedAESKey == other.encryptedAESKey
            && one.encryptedKey == other.encryptedKey
            && one.publicKey.rawRepresentation == other.publicKey.rawRepresentation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(encryptedKey) }
}
