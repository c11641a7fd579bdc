public import SigningKit

/// All settings of the operator: strictly read from one YAML file, and a few process settings from `PRIVYSEAL_…`
/// variables. Nothing is opened or looked up yet, so the gateway finds a missing token only at its start.
///
/// It contains no secret. A key's URI has the location of its PIN, which descriptions and dumps leave out, too.
public struct GatewayConfiguration: Sendable {
    public internal(set) var publicListener = Listener(role: .public, address: .standard)
    public internal(set) var adminListener: Listener?
    public internal(set) var metricsListener: Listener?
    /// Whether anonymous callers of the public listener may get every signature.
    public internal(set) var allowsAnonymous = false
    /// Names and credentials are unique. May be empty; see `requireServable()`.
    public internal(set) var clients: [Client] = []
    public internal(set) var limits = Limits()
    public internal(set) var tracing: Tracing?
    public internal(set) var audit: Audit?
    /// Whether the configuration turns the audit log off; false if `audit` is missing.
    public internal(set) var isAuditOff = false
    /// Nil if they are not configured; see `drillDirectory`.
    public internal(set) var drills: Drills?
    public internal(set) var verification: Verification = .always
    public internal(set) var validation = Validation()
    public internal(set) var logging = Logging()
    /// How long `/readyz` fails before the listeners close, so that load balancers and clients can notice.
    public internal(set) var drainDelay: Duration = .seconds(1)
    /// The maximum time for requests in flight after the request to stop.
    public internal(set) var shutdownGracePeriod: Duration = .seconds(30)
    /// Between two proofs of possession of an idle key.
    public internal(set) var proofInterval: Duration = .seconds(10)
    /// The settings of all of the program's backends by scheme, with defaults for absent ones.
    public internal(set) var backends: [String: KeyBackendSettings] = [:]
    /// The same as text, by scheme and name, for display.
    var backendTexts: [String: [String: String]] = [:]
    /// At least one. Bundle IDs and key IDs are unique.
    public internal(set) var accounts: [Account] = []
    /// Warnings about valid settings that may be mistakes; to be shown once at start.
    public internal(set) var warnings: [ConfigurationWarning] = []
    /// The SHA-256 of the file as read, 32 bytes. The variables are not included.
    public let digest: [UInt8]
    let file: ConfigurationOrigin

    init(file: ConfigurationOrigin, digest: [UInt8]) {
        self.file = file
        self.digest = digest
    }
}

extension GatewayConfiguration {
    /// Requires a client or `anonymous: true`. The gateway needs one of them; signing on the command line does not.
    ///
    /// - Throws: One fault with the remedy.
    public func requireServable() throws(ConfigurationError) {
        guard clients.isEmpty, !allowsAnonymous else { return }
        let what =
            "at least one client, because without one the gateway would serve no caller: privyseal clients mint NAME "
            + "makes a token and shows the lines to put here (anonymous: true instead allows every caller on this "
            + "machine everything)"
        throw ConfigurationError([ConfigurationFault(origin: file.child("clients"), reason: .missing(what))])
    }
}
