public import Crypto

/// A backend on which keys can be generated, imported and destroyed.
public protocol KeyProvisioning: KeyBackend {
    /// Opens the token for provisioning, with the login that it uses for signing.
    ///
    /// - Throws: like `open`, and `unfit` for a backend that accepts no changes.
    static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession
}

/// Provisions keys, one call at a time. A failed call leaves nothing half done; a repeated one finds interrupted work.
public protocol ProvisioningSession: Sendable {
    var token: KeyBackendReport.Token { get }

    /// - Parameters:
    ///   - selector: names the new key, at least by label.
    ///   - isResumed: whether an earlier import of this key was interrupted, so that the key may already exist.
    ///   - allowsClear: whether a plain key may pass through the module in the clear, if the token cannot unwrap.
    ///   - tell: receives a sentence for each step.
    /// - Throws: `unfit` if the key already exists, among others.
    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey

    /// Has the token generate a P-256 key pair.
    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey

    /// Has the token generate an RSA key pair of 3072 bits that can only unwrap.
    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey

    /// Destroys a key, and verifies that it is gone.
    ///
    /// - Parameters:
    ///   - fingerprint: the expected key; nil if unknown.
    ///   - isResumed: whether an earlier destruction was interrupted, so that the key may already be gone.
    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey

    func close() async
}

/// A key to import.
public enum IncomingKey: Sendable {
    case plain(KeyMaterial)
    case wrapped(WrappedKey)

    public var publicKey: P256.Signing.PublicKey {
        switch self {
        case .plain(let material): material.publicKey
        case .wrapped(let package): package.publicKey
        }
    }
}

/// A key on the token that has proven that it can sign.
public struct ProvisionedKey: Sendable {
    public enum Method: String, Sendable {
        /// Unwrapped under a wrapping key made in the token for this import.
        case unwrapped
        /// Unwrapped from a package that only the token could decrypt.
        case unwrappedPackage = "unwrapped-package"
        /// Imported in the clear: the token cannot unwrap, and the caller allowed it.
        case created
        case generated
        /// Found on the token, from an interrupted call.
        case found
    }

    public var publicKey: P256.Signing.PublicKey
    public var method: Method
    public var label: String
    public var id: [UInt8]
    /// Read back from the token, by standard name, such as `CKA_EXTRACTABLE`, in order.
    public var attributes: [(name: String, value: String)]
    /// Sentences on properties that an administrator should know.
    public var warnings: [String]
    /// Whether the token refused the public key, so that the configuration must contain it.
    public var lacksPublicKey: Bool

    public init(
        publicKey: P256.Signing.PublicKey, method: Method, label: String, id: [UInt8],
        attributes: [(name: String, value: String)], warnings: [String] = [], lacksPublicKey: Bool = false
    ) {
        self.publicKey = publicKey
        self.method = method
        self.label = label
        self.id = id
        self.attributes = attributes
        self.warnings = warnings
        self.lacksPublicKey = lacksPublicKey
    }
}

public struct DestroyedKey: Sendable {
    /// Nil if only remnants without the public key were left.
    public var fingerprint: PublicKeyFingerprint?
    public var label: String
    public var id: [UInt8]
    /// The number of destroyed objects.
    public var destroyedPrivate: Int
    public var destroyedPublic: Int

    public init(
        fingerprint: PublicKeyFingerprint?, label: String, id: [UInt8], destroyedPrivate: Int, destroyedPublic: Int
    ) {
        self.fingerprint = fingerprint
        self.label = label
        self.id = id
        self.destroyedPrivate = destroyedPrivate
        self.destroyedPublic = destroyedPublic
    }
}
