/// An open connection to a location of keys, such as a token or a file. The scheme of the key's URI selects the type.
public protocol KeyBackend: Sendable {
    /// The scheme of the backend's URIs, such as `file` or `pkcs11`.
    static var scheme: String { get }

    static var settings: [PluginSetting] { get }

    /// Splits a key's URI into the location and the key, without access to either.
    ///
    /// - Throws: `KeyError.invalidURI`, with the invalid attribute.
    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress

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

/// The inputs of a backend besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: PluginSettings
    public let secrets: any SecretSource
    /// The time of the start or reload by which a person last ordered this opening. It permits one more attempt at a
    /// login whose result was unclear before that time; nil permits none.
    public let reopenOrderedAt: ContinuousClock.Instant?
    /// Receives events of the open backend. The backend may call it on any thread. It returns at once.
    public let report: @Sendable (KeyBackendEvent) -> Void

    public init(
        settings: PluginSettings, secrets: any SecretSource, reopenOrderedAt: ContinuousClock.Instant? = nil,
        report: @escaping @Sendable (KeyBackendEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.secrets = secrets
        self.reopenOrderedAt = reopenOrderedAt
        self.report = report
    }
}

/// An event of a key backend, for the audit log.
public struct KeyBackendEvent: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// The backend can no longer sign.
        case lost
        case back
        case loginRefused = "pin-refused"
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
