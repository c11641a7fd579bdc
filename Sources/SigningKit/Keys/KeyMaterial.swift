public import Crypto

/// A private key on its way into a token, from a file that holds it. The one value here that can be read: it lives as
/// long as the import takes, and no signing key gives one.
public struct KeyMaterial: Sendable {
    /// `PrivateKeyInfo` (RFC 5208 §5) in DER, with the public key inside.
    public let pkcs8: Secret
    public let publicKey: P256.Signing.PublicKey

    public init(pkcs8: Secret, publicKey: P256.Signing.PublicKey) {
        self.pkcs8 = pkcs8
        self.publicKey = publicKey
    }
}

/// What a backend offers besides whose places are files with private keys in them, so that these can be moved elsewhere.
public protocol KeyMaterialReading: KeyBackend {
    /// - Throws: as `open`.
    static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial
}
