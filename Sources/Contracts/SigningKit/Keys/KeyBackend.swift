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
