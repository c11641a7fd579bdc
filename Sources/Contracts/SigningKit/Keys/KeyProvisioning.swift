public import Crypto

/// A backend on which keys can be generated, imported and destroyed.
public protocol KeyProvisioning: KeyBackend {
    /// The URI of a new key: `uri`, with `keyID` as the key's name if it contains no name.
    static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI

    /// Opens the location for provisioning, with the login that it uses for signing.
    ///
    /// - Throws: like `open`, and `unfit` for a backend that accepts no changes.
    static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession
}

/// Provisions keys, one call at a time. A failed call leaves nothing half done; a repeated one finds interrupted work.
public protocol ProvisioningSession: Sendable {
    var location: ProvisioningLocation { get }

    /// - Parameters:
    ///   - selector: names the new key.
    ///   - isResumed: whether an earlier import of this key was interrupted, so that the key may already exist.
    ///   - allowsClear: whether a plain key may leave this process in the clear, if the location cannot unwrap.
    ///   - tell: receives a sentence for each step.
    /// - Throws: `unfit` if the key already exists, among others.
    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey

    /// Generates a P-256 key pair.
    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey

    /// Generates an RSA key pair that can only unwrap.
    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey

    /// Destroys a key, and verifies that it is gone.
    ///
    /// - Parameters:
    ///   - fingerprint: the expected key; nil if unknown.
    ///   - isResumed: whether an earlier destruction was interrupted, so that the key may already be gone.
    /// - Throws: an error with `isBeforeDestruction` only if nothing was changed; see `KeyError.duringDestruction`.
    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey

    func close() async
}

/// The location of new keys, as it describes itself.
public struct ProvisioningLocation: Hashable, Codable, Sendable {
    /// With its kind, such as `token "appstore"`.
    public var name: String
    /// A number or name that does not change, such as a token's serial number.
    public var serial: String
    public var model: String
    /// Evidence for the register of keys, by name.
    public var evidence: [String: String]

    public init(name: String, serial: String, model: String, evidence: [String: String]) {
        self.name = name
        self.serial = serial
        self.model = model
        self.evidence = evidence
    }
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

/// A key at its new location that has proven that it can sign.
public struct ProvisionedKey: Codable, Sendable {
    public enum Method: String, Codable, Sendable {
        /// Unwrapped under a wrapping key made for this import, which never left the location.
        case unwrapped
        /// Unwrapped from a package that only the location could decrypt.
        case unwrappedPackage = "unwrapped-package"
        /// Imported in the clear: the location cannot unwrap, and the caller allowed it.
        case created
        case generated
        /// Found at the location, from an interrupted call.
        case found
    }

    @CodedPublicKey public var publicKey: P256.Signing.PublicKey
    public var method: Method
    /// The method as a sentence.
    public var summary: String
    /// Properties of the key, read back, by name and in order.
    public var attributes: [KeyInspection.Fact]
    /// Evidence for the register of keys besides `attributes`, by name.
    public var evidence: [String: String]
    /// Sentences on properties that an administrator should know.
    public var warnings: [String]
    /// Whether the location does not hold the public key, so that the configuration must contain it.
    public var lacksPublicKey: Bool

    public init(
        publicKey: P256.Signing.PublicKey, method: Method, summary: String, attributes: [KeyInspection.Fact],
        evidence: [String: String] = [:], warnings: [String] = [], lacksPublicKey: Bool = false
    ) {
        self.publicKey = publicKey
        self.method = method
        self.summary = summary
        self.attributes = attributes
        self.evidence = evidence
        self.warnings = warnings
        self.lacksPublicKey = lacksPublicKey
    }
}

public struct DestroyedKey: Codable, Sendable {
    /// Nil if only remnants without the public key were left.
    public var fingerprint: PublicKeyFingerprint?
    /// The number of destroyed objects.
    public var destroyedPrivate: Int
    public var destroyedPublic: Int
    /// What is left of the key, and until when, in a sentence; nil if nothing is.
    public var remainder: String?
    /// Evidence for the register of keys, by name.
    public var evidence: [String: String]

    public init(
        fingerprint: PublicKeyFingerprint?, destroyedPrivate: Int, destroyedPublic: Int, remainder: String? = nil,
        evidence: [String: String]
    ) {
        self.fingerprint = fingerprint
        self.destroyedPrivate = destroyedPrivate
        self.destroyedPublic = destroyedPublic
        self.remainder = remainder
        self.evidence = evidence
    }
}

extension KeyError {
    /// Whether a destruction that ends with this error has changed nothing.
    public var isBeforeDestruction: Bool {
        switch self {
        case .notFound, .ambiguous, .unfit, .invalidURI, .invalidSetting: true
        case .secretUnavailable, .loginRefused, .loginBlocked, .busy, .cancelled, .closed, .unavailable, .failed: false
        }
    }

    /// This error, if the destruction may have changed something before.
    public var duringDestruction: KeyError { isBeforeDestruction ? .failed("\(self)") : self }
}
