public import Crypto

/// What a backend offers besides where keys can be made, brought in and destroyed.
public protocol KeyProvisioning: KeyBackend {
    /// Opens the place to work on it, with the login that it has for signing.
    ///
    /// - Throws: as `open`, and `unfit` for a place that takes no changes.
    static func workshop(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any KeyWorkshop
}

/// A place that is open for work on its keys. One thing at a time; what fails leaves nothing half done, and what was
/// interrupted is found by the same call again.
public protocol KeyWorkshop: Sendable {
    var token: KeyBackendReport.Token { get }

    /// - Parameters:
    ///   - selector: names the key that is to be, by its label at least.
    ///   - isResumed: whether an import of this key began before and did not end, so that finding it is no surprise.
    ///   - allowsClear: whether a plain key may pass through the module in the clear, where the place cannot unwrap.
    ///   - tell: gets a sentence for each step.
    /// - Throws: `unfit` for a key that is already there, among others.
    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> PlacedKey

    /// Has the place make a P-256 pair.
    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> PlacedKey

    /// Has the place make an RSA pair of 3072 bits that unwraps and does nothing else.
    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> MadeWrappingKey

    /// Takes a key out of the world, and looks whether it is gone.
    ///
    /// - Parameters:
    ///   - fingerprint: what the key must be; nil where nobody has said.
    ///   - isResumed: whether it may be gone already: a destruction that was begun and did not end.
    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey

    func close() async
}

/// A key that is to come in.
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

/// A key that is in its place now, and has proven that it can sign.
public struct PlacedKey: Sendable {
    public enum Method: String, Sendable {
        /// Under a key that was made in the token for this import.
        case unwrapped
        /// Out of a package that only the token could open.
        case unwrappedPackage = "unwrapped-package"
        /// In the clear: the token cannot unwrap, and this was allowed.
        case created
        /// By the token itself.
        case generated
        /// It was there already, from a call that was interrupted.
        case found
    }

    public var publicKey: P256.Signing.PublicKey
    public var method: Method
    public var label: String
    public var id: [UInt8]
    /// As read back from the place, by the standard's names, such as `CKA_EXTRACTABLE`; in order.
    public var attributes: [(name: String, value: String)]
    /// Sentences that somebody should hear: what is not as one would like it.
    public var warnings: [String]
    /// Whether the place refused the public key, so that the configuration must name it.
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

/// A key that is gone.
public struct DestroyedKey: Sendable {
    /// Nil where only remnants of it were left, without the public key.
    public var fingerprint: PublicKeyFingerprint?
    public var label: String
    public var id: [UInt8]
    /// How many objects there were: the private key's, the public key's.
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
