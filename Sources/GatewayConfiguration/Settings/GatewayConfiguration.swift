public import SigningKit

/// Everything that an operator decides: read strictly from one YAML file, and a few process settings from `PRIVYSEAL_…`
/// variables. Nothing is opened or looked up yet; a token that is not there is found when the gateway starts.
///
/// No secret is in it: a key's URI says where its PIN is, and even that is left out of descriptions and dumps.
public struct GatewayConfiguration: Sendable {
    public internal(set) var listen: ListenAddress = .standard
    /// Where `listen` was given, for the error of a port that is taken; nil when it is the default.
    public internal(set) var listenOrigin: ConfigurationOrigin?
    public internal(set) var verification: Verification = .always
    public internal(set) var validation = Validation()
    public internal(set) var logging = Logging()
    /// How long `/readyz` says no before the doors close, so that who sends requests can notice.
    public internal(set) var drainDelay: Duration = .seconds(1)
    /// How long requests in flight may take once the gateway was asked to stop.
    public internal(set) var shutdownGracePeriod: Duration = .seconds(30)
    /// The settings of every backend that the program has, by scheme: what was given, and the defaults for the rest.
    public internal(set) var backends: [String: KeyBackendSettings] = [:]
    /// At least one; no bundle ID and no key ID is in two of them.
    public internal(set) var accounts: [Account] = []
    /// What can be used but may not be meant; to be shown once at start.
    public internal(set) var warnings: [ConfigurationWarning] = []
}
