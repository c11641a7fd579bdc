/// A place where keys live: a file, a token. The scheme of a key's URI chooses it at run time.
public protocol KeyBackend: Sendable {
    /// Of the URIs that this backend serves, such as `file` or `pkcs11`.
    static var scheme: String { get }

    /// The settings that an operator may give, by name.
    static var settings: [KeyBackendSetting] { get }

    /// Splits a key's URI into the place and the key in it, without touching either.
    ///
    /// - Throws: `KeyError.invalidURI` with the attribute that is wrong.
    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress

    /// Opens the place. Keys whose locators are equal share one backend, and with it one login.
    static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> Self

    /// Finds exactly one key, and refuses one that is not fit to sign.
    func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey

    /// From what is known: it signs nothing and logs in to nothing.
    func health() async -> KeyBackendHealth

    /// Its health and what is behind it, for operators; as `health()`, from what is known.
    func report() async -> KeyBackendReport

    /// Waits for signatures in flight, then gives everything back. Once closed, every call fails with `KeyError.closed`.
    /// Idempotent.
    func close() async
}
