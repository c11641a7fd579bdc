public import Signing
public import SigningKit

/// All settings of the operator: strictly read from one YAML file, and a few process settings from `PRIVYSEAL_…`
/// variables. Nothing is opened or looked up yet, so the gateway finds a missing token only at its start.
///
/// It contains no secret. A key's URI has the location of its PIN, which descriptions and dumps leave out, too.
public struct GatewayConfiguration: Sendable {
    var namedListeners = Listeners()
    /// Whether anonymous callers of the public listener may get every signature.
    public internal(set) var allowsAnonymous = false
    /// Names and credentials are unique. May be empty; see `requireServable()`.
    public internal(set) var clients: [ClientSettings] = []
    /// The issuers of the clients' identities. Names are unique.
    public internal(set) var issuers: [Issuer] = []
    public internal(set) var limits = Limits()
    public internal(set) var tracing: Tracing?
    public internal(set) var audit: Audit?
    /// Whether the configuration turns the audit log off; false if `audit` is missing.
    public internal(set) var isAuditOff = false
    /// Nil for a gateway that belongs to no fleet.
    public internal(set) var fleet: Fleet?
    /// Nil if they are not configured; see `drillDirectory`.
    public internal(set) var drills: Drills?
    public internal(set) var verification: VerificationMode = .always
    /// The settings that the program's features declare, with defaults for absent ones.
    public internal(set) var features: PluginSettings
    public internal(set) var logging = Logging()
    /// How long `/readyz` fails before the listeners close, so that load balancers and clients can notice.
    public internal(set) var drainDelay: Duration = .seconds(1)
    /// The maximum time for requests in flight after the request to stop.
    public internal(set) var shutdownGracePeriod: Duration = .seconds(30)
    /// Between two proofs of possession of an idle key.
    public internal(set) var proofInterval: Duration = .seconds(10)
    /// The settings of all of the program's backends by scheme, with defaults for absent ones.
    public internal(set) var backends: [String: PluginSettings]
    /// The settings of signers, by name. A signer without an entry has the default settings.
    public internal(set) var signers: [SignerSettings] = []
    /// At least one, unless there are services. Bundle IDs and key IDs are unique.
    public internal(set) var accounts: [Account] = []
    /// The services of Apple for which the gateway makes tokens. Names are unique.
    public internal(set) var services: [Service] = []
    /// Warnings about valid settings that may be mistakes; to be shown once at start.
    public internal(set) var warnings: [ConfigurationFinding] = []
    /// The SHA-256 of the file as read, 32 bytes. The variables are not included.
    public let digest: [UInt8]
    let file: ConfigurationOrigin
    /// The keys at the file's root.
    private(set) var given: GivenSettings?

    init(file: ConfigurationOrigin, digest: [UInt8], _ plugins: Plugins) {
        self.file = file
        self.digest = digest
        features = PluginSettings(defaultsOf: plugins.featureSettings)
        backends = Dictionary(plugins.backends.map { ($0.scheme, PluginSettings(defaultsOf: $0.settings)) }) { $1 }
    }
}

/// The table of settings. The other sections have theirs next to their fields.
extension GatewayConfiguration: SettingSection {
    static let settings: [Setting<Self>] = [
        .key(
            "listen", values: "a host and a port, or `unix:` and a path", standard: "`127.0.0.1:8080`",
            needsRestart: true,
            "the short form of `listeners.public.address`",
            read: { $1.namedListeners.byRole[.public, default: Listener(.public)].readAddress($0, replaces: false, $2) }
        ),
        .section("listeners", \.namedListeners),
        .value(
            "anonymous", \.allowsAnonymous, .boolean,
            "whether every caller that reaches the public listener may have every signature"),
        .list(
            "clients", \.clients, of: "client", .section { ClientSettings($0) },
            "the clients that may request signatures",
            members: ClientSettings.reference(of: ClientSettings(.unknown)),
            outline: { .group("clients", $0.map { .element($0.name, $0.outline) }) }),
        .list(
            "issuers", \.issuers, of: "issuer", .section { Issuer(origin: $0) },
            "the issuers of `clients[].identities`, see [workload identities](workload-identities.md)",
            members: Issuer.reference(of: Issuer(origin: .unknown)),
            outline: { .group("issuers", $0.map { .element($0.name, $0.outline) }) }),
        .section("limits", \.limits),
        .section("tracing", optional: \.tracing) { _ in Tracing() },
        .section("audit", optional: \.audit, Audit.init).read { $1.readAudit($0, $2) },
        .section("fleet", optional: \.fleet) { Fleet($0) },
        .section("drills", optional: \.drills) { _ in Drills() },
        .value(
            "verification", \.verification, .verification, variable: "PRIVYSEAL_VERIFICATION",
            "which signatures are verified against the public key before they are released"),
        Setting(
            name: "validation", read: { $1.features.readSection($0, $2) },
            outline: { .group("validation", $0.features.outline) },
            reference: { $0.features.reference.map { $0.below("validation.") } }),
        .section("logging", \.logging),
        .value(
            "drainDelay", \.drainDelay, .seconds(0...3600), variable: "PRIVYSEAL_DRAIN_DELAY", needsRestart: true,
            "seconds between the first 503 of `/readyz` and the end of the listeners"),
        .value(
            "shutdownGracePeriod", \.shutdownGracePeriod, .seconds(1...3600),
            variable: "PRIVYSEAL_SHUTDOWN_GRACE_PERIOD", needsRestart: true,
            "seconds after `drainDelay` in which requests in flight must finish"),
        .value(
            "proofInterval", \.proofInterval, .seconds(1...86_400),
            "seconds between two proofs of possession of an idle key. While a key is down, keys sign a proof every second; "
                + "`/readyz` also requests proofs. A key with `CKA_ALWAYS_AUTHENTICATE` signs one proof; after that, the "
                + "requests that it signs count as proofs"),
        Setting(
            name: "backends", read: { $1.readBackends($0, $2) },
            outline: { configuration in
                .group("backends", configuration.sortedBackends.map { .group($0.key, $0.value.outline) })
            },
            reference: { configuration in
                configuration.sortedBackends.flatMap { scheme, settings in
                    settings.reference.map { $0.below("backends.\(scheme).") }
                }
            }),
        .list(
            "signers", \.signers, of: "signer", .section { _ in SignerSettings(name: "") },
            standard: "one process for each token, and one for all key files",
            "the processes that hold the keys, see [operations](operations.md#signers)",
            members: SignerSettings.reference(of: SignerSettings(name: "")),
            outline: { .group("signers", $0.map { .element($0.name, $0.outline) }) }),
        .list(
            "accounts", \.accounts, of: "account", .section { Account(origin: $0) },
            standard: "required without `services`", "the accounts in App Store Connect",
            members: Account.reference(of: Account(origin: .unknown)),
            outline: { .group("accounts", $0.map { .element($0.issuerID, $0.outline) }) }),
        .list(
            "services", \.services, of: "service", .section { Service(origin: $0) },
            "the services of Apple that need tokens, see [service tokens](service-tokens.md)",
            members: Service.reference(of: Service(origin: .unknown)),
            outline: { .group("services", $0.map { .element($0.name, $0.outline) }) }),
    ]

    mutating func finish(_ given: GivenSettings, _ findings: Findings) {
        self.given = given
        if !given.isPresentOrMisspelt("accounts"), !given.isPresentOrMisspelt("services") {
            findings.fault(
                "is missing; give a list with the issuerId, apps, keys and activeKey of each account",
                at: given.origin.child("accounts"))
        }
        checkServices(findings)
        checkSigners(given, findings)
        checkFleet(given, findings)
        let hasAudit = given.isPresentOrMisspelt("audit")
        if !hasAudit {
            findings.warn(
                "is missing, so signatures are not recorded; add audit: {database: \(Audit.example)}, or audit: off if "
                    + "this is intended", at: given.origin.child("audit"))
        }
        // An invalid `audit` already has its own fault.
        guard isAuditOff || !hasAudit else { return }
        let origins =
            accounts.filter(\.hasDualControl).map(\.origin) + services.filter(\.hasDualControl).map(\.origin)
        for origin in origins {
            findings.fault(
                "needs the audit log, which stores proposals and approvals; give audit.database, or remove it",
                at: origin.child("dualControl"))
        }
    }

    /// The locations of all keys, and of the key that cosigns checkpoints.
    public var keyLocations: [KeyLocation] {
        keys.flatMap { [$0.location] + $0.replicas }
            + [audit?.checkpoints.cosigner].compactMap(\.self)
    }

    /// The keys of all accounts and services.
    public var keys: [Key] { accounts.flatMap(\.keys) + services.flatMap(\.keys) }

    /// Warns about a signer without a key.
    private func checkSigners(_ given: GivenSettings, _ findings: Findings) {
        guard given.faulty.isEmpty, let origin = given.origin(of: "signers") else { return }
        let known = Set(keyLocations.map(\.signerName)).sorted()
        for (index, signer) in signers.enumerated() where !known.contains(signer.name) {
            findings.warn(
                "has no effect, because no key has this signer; the signers are \(known.joined(separator: ", "))",
                at: origin.child(index).child("name"))
        }
    }

    private var sortedBackends: [(key: String, value: PluginSettings)] { backends.sorted { $0.key < $1.key } }

    private mutating func readBackends(_ node: SettingNode, _ findings: Findings) -> Bool {
        guard let given = GivenSettings(node, keys: findings.plugins.schemes, findings) else { return false }
        for scheme in findings.plugins.schemes {
            if let node = given.value(of: scheme) { _ = backends[scheme]?.readSection(node, findings) }
        }
        return true
    }

    /// Reads a mapping, or `off`.
    private mutating func readAudit(_ node: SettingNode, _ findings: Findings) -> Bool {
        guard case .scalar(let text, let isPlain) = node.content, !node.isNull else {
            var audit = Audit(node.origin)
            let isValid = audit.readSection(node, findings)
            self.audit = audit
            return isValid
        }
        isAuditOff = text == "off" || (isPlain && text == "false")
        guard !isAuditOff else { return true }
        // Do not repeat the text: it may be the address of a database, with a password.
        findings.fault(
            "must be off, or a mapping with the database, as in {database: \(Audit.example)}", at: node.origin)
        return false
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
        throw ConfigurationError([
            ConfigurationFinding(origin: file.child("clients"), sentence: "is missing; give \(what)")
        ])
    }
}
