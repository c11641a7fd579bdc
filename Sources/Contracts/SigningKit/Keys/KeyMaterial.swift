public import Crypto

/// A private key from a file, for import into a token. It is the only readable private key in this module: it exists
/// only during the import, and no signing key provides it.
public struct KeyMaterial: Sendable {
    /// `PrivateKeyInfo` (RFC 5208 §5) in DER, with the public key inside.
    public let pkcs8: Secret
    public let publicKey: P256.Signing.PublicKey

    public init(pkcs8: Secret, publicKey: P256.Signing.PublicKey) {
        self.pkcs8 = pkcs8
        self.publicKey = publicKey
    }
}

/// A backend that can read private keys from its files, so that they can be moved elsewhere.
public protocol KeyMaterialReading: KeyBackend {
    /// - Throws: like `open`.
    static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial
}
