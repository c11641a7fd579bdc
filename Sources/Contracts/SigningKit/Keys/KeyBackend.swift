/// An open connection to a location of keys, such as a token or a file. The scheme of the key's URI selects the type.
public protocol KeyBackend: Sendable {
    /// The scheme of the backend's URIs, such as `file` or `pkcs11`.
    static var scheme: String { get }

    static var settings: [PluginSetting] { get }

    /// Splits a key's URI into the location and the key, without access to either.
    ///
    /// - Throws: `KeyError.invalidURI`, with the invalid attribute.
    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress

    /// The name of the signer for a location: `files`, or the name of the module that the location needs. Operators see
    /// it, and configure signers by it.
    static func signerName(of locator: KeyLocator) -> String

    /// Whether all locations of a signer are in one process. A backend that loads foreign code into the process gives
    /// each location a process of its own.
    static var sharesSigner: Bool { get }

    /// Whether the locations are reached over the network.
    static var needsNetwork: Bool { get }

    /// The files that a location needs and no other signer may read, as references for `SecretSource`.
    static func secretSources(of locator: KeyLocator) -> [String]

    /// The library that a location needs; nil if it needs none, or if it is found by its name.
    static func modulePath(of locator: KeyLocator) -> String?

    /// The time after which a call into the location counts as hanging.
    static func callTimeout(_ settings: PluginSettings) -> Duration

    /// Opens the location. Keys with equal locators share one backend, and so one login.
    static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> Self

    /// Finds exactly one key, and refuses a key that is unfit to sign.
    func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey

    /// The last known health. The call neither signs nor logs in.
    func health() async -> KeyBackendHealth

    /// The last known health and details for operators. The call neither signs nor logs in.
    func report() async -> KeyBackendReport

    /// Waits for signatures in progress, then releases everything. Idempotent. Later calls fail with `KeyError.closed`.
    func close() async
}

extension KeyBackend {
    public static func signerName(of locator: KeyLocator) -> String { scheme }
    public static var sharesSigner: Bool { true }
    public static var needsNetwork: Bool { false }
    public static func secretSources(of locator: KeyLocator) -> [String] { [] }
    public static func modulePath(of locator: KeyLocator) -> String? { nil }
    public static func callTimeout(_ settings: PluginSettings) -> Duration { .seconds(10) }
}

/// The inputs of a backend besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: PluginSettings
    public let secrets: any SecretSource
    /// The signer that opens the location; nil to open it in this process.
    public let signer: SignerSettings?
    /// The logins that must not be repeated; nil without a memory of earlier processes.
    public let logins: (any LoginHistory)?
    /// The time of the start or reload by which a person last ordered this opening (`MonotonicTime`). It permits one more
    /// attempt at a login whose result was unclear before that time; nil permits none.
    public let reopenOrderedAt: UInt64?
    /// Receives events of the open backend. The backend may call it on any thread. It returns at once.
    public let report: @Sendable (KeyBackendEvent) -> Void

    public init(
        settings: PluginSettings, secrets: any SecretSource, signer: SignerSettings? = nil,
        logins: (any LoginHistory)? = nil, reopenOrderedAt: UInt64? = nil,
        report: @escaping @Sendable (KeyBackendEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.secrets = secrets
        self.signer = signer
        self.logins = logins
        self.reopenOrderedAt = reopenOrderedAt
        self.report = report
    }
}

/// An event of a key backend, for the audit log.
public struct KeyBackendEvent: Hashable, Codable, Sendable {
    public enum Kind: String, Codable, Sendable {
        /// The backend can no longer sign.
        case lost
        case back
        case loginRefused = "pin-refused"
        /// A signer process ended, or was ended because it did not answer or sent something wrong.
        case signerLost = "signer-lost"
        /// A new signer process has replaced one, as an administrator ordered.
        case signerReplaced = "signer-replaced"
    }

    public var kind: Kind
    /// The name of the location, such as a token's label.
    public var label: String?
    public var serial: String?
    /// A sentence without secrets.
    public var reason: String?

    public init(_ kind: Kind, label: String? = nil, serial: String? = nil, reason: String? = nil) {
        self.kind = kind
        self.label = label
        self.serial = serial
        self.reason = reason
    }
}
