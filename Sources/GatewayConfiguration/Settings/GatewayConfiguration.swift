public import SigningKit

/// Everything that an operator decides: read strictly from one YAML file, and a few process settings from `PRIVYSEAL_…`
/// variables. Nothing is opened or looked up yet; a token that is not there is found when the gateway starts.
///
/// No secret is in it: a key's URI says where its PIN is, and even that is left out of descriptions and dumps.
public struct GatewayConfiguration: Sendable {
    /// Where signatures are asked for.
    public internal(set) var publicListener = Listener(role: .public, address: .standard)
    /// Nil when there is none.
    public internal(set) var adminListener: Listener?
    /// Nil when there is none.
    public internal(set) var metricsListener: Listener?
    /// Whether everybody who reaches the public listener may have everything.
    public internal(set) var allowsAnonymous = false
    /// No name and no proof is in two of them. May be empty; see `requireServable()`.
    public internal(set) var clients: [Client] = []
    public internal(set) var limits = Limits()
    /// Nil when no traces are sent.
    public internal(set) var tracing: Tracing?
    /// Nil when signatures leave no record.
    public internal(set) var audit: Audit?
    /// Whether the configuration says that there is to be no record; false also when it says nothing.
    public internal(set) var isAuditOff = false
    /// Nil when nothing is said of them; see `drillDirectory`.
    public internal(set) var drills: Drills?
    public internal(set) var verification: Verification = .always
    public internal(set) var validation = Validation()
    public internal(set) var logging = Logging()
    /// How long `/readyz` says no before the doors close, so that who sends requests can notice.
    public internal(set) var drainDelay: Duration = .seconds(1)
    /// How long requests in flight may take once the gateway was asked to stop.
    public internal(set) var shutdownGracePeriod: Duration = .seconds(30)
    /// Between two proofs of an idle key.
    public internal(set) var proofInterval: Duration = .seconds(10)
    /// The settings of every backend that the program has, by scheme: what was given, and the defaults for the rest.
    public internal(set) var backends: [String: KeyBackendSettings] = [:]
    /// The same as text, by scheme and name, for those who show it.
    var backendTexts: [String: [String: String]] = [:]
    /// At least one; no bundle ID and no key ID is in two of them.
    public internal(set) var accounts: [Account] = []
    /// What can be used but may not be meant; to be shown once at start.
    public internal(set) var warnings: [ConfigurationWarning] = []
    /// SHA-256 of the file as it was read, 32 bytes: what the variables said is not in it.
    public let digest: [UInt8]
    /// The file as a whole.
    let file: ConfigurationOrigin

    init(file: ConfigurationOrigin, digest: [UInt8]) {
        self.file = file
        self.digest = digest
    }
}

extension GatewayConfiguration {
    /// What only those need who serve: somebody to serve. A signature on the command line asks for no client.
    ///
    /// - Throws: one fault, which names the cure.
    public func requireServable() throws(ConfigurationError) {
        guard clients.isEmpty, !allowsAnonymous else { return }
        let what =
            "at least one client, because without any the gateway would serve nobody: privyseal clients mint NAME makes a "
            + "token and shows the lines to put here (anonymous: true instead lets everybody on this machine have everything)"
        throw ConfigurationError([ConfigurationFault(origin: file.child("clients"), reason: .missing(what))])
    }
}
