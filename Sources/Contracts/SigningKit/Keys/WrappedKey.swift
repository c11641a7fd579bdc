public import Crypto

/// A private key that only one location can decrypt. An AES key encrypts it, and the location's RSA key encrypts the
/// AES key.
public struct WrappedKey: Codable, Hashable, Sendable {
    /// The SHA-256 of the RSA key's SubjectPublicKeyInfo.
    public let wrappingKey: PublicKeyFingerprint
    /// The public key of the wrapped key, which the key must prove after import.
    @CodedPublicKey public private(set) var publicKey: P256.Signing.PublicKey
    /// The hash of RSA-OAEP and its MGF1.
    public let hash: WrappingHash
    /// An AES-256 key under RSA-OAEP (RFC 8017 §7.1) without a label.
    public let encryptedAESKey: [UInt8]
    /// PKCS #8 in DER, under the AES key, by AES-KWP (RFC 5649).
    public let encryptedKey: [UInt8]

    public init(
        wrappingKey: PublicKeyFingerprint, publicKey: P256.Signing.PublicKey, hash: WrappingHash = .sha1,
        encryptedAESKey: [UInt8], encryptedKey: [UInt8]
    ) {
        self.wrappingKey = wrappingKey
        self.publicKey = publicKey
        self.hash = hash
        self.encryptedAESKey = encryptedAESKey
        self.encryptedKey = encryptedKey
    }
}

/// The hash of RSA-OAEP, for the label and for MGF1.
public enum WrappingHash: String, Codable, Sendable {
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
}

/// The public half of an RSA key pair that wraps keys for a location.
public struct GeneratedWrappingKey: Codable, Sendable {
    /// The SubjectPublicKeyInfo.
    public let der: [UInt8]
    /// The strongest hash that the location accepts.
    public let hash: WrappingHash

    public init(der: [UInt8], hash: WrappingHash) {
        self.der = der
        self.hash = hash
    }
}

/// A private key from a file, for import into a token. It is the only readable private key in this module: it exists
/// only during the import, and no signing key provides it.
public struct KeyMaterial: Sendable {
    /// `PrivateKeyInfo` (RFC 5208 §5) in DER, with the public key inside.
    public let pkcs8: Secret
    public let publicKey: P256.Signing.PublicKey
    /// The file of the key, if it comes from one. A signer process reads it there itself.
    public let source: KeyLocator?

    public init(pkcs8: Secret, publicKey: P256.Signing.PublicKey, source: KeyLocator? = nil) {
        self.pkcs8 = pkcs8
        self.publicKey = publicKey
        self.source = source
    }
}

/// A backend that can read private keys from its files, so that they can be moved elsewhere.
public protocol KeyMaterialReading: KeyBackend {
    /// - Throws: like `open`.
    static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial
}
