extension GatewayConfiguration {
    /// An account in App Store Connect: one issuer ID, its apps, and the keys that sign for them.
    public struct Account: SettingSection {
        /// As written, even if it is not a UUID: Apple compares the text.
        public internal(set) var issuerID = ""
        /// At least one.
        public internal(set) var apps: [App] = []
        /// At least one.
        public internal(set) var keys: [Key] = []
        /// The ID of the key in `keys` that signs unless a caller chooses another.
        public internal(set) var activeKeyID = ""
        var dualControl = DualControl(isWanted: false, countsOperator: true)
        /// How long a proposal waits for the second administrator.
        public internal(set) var proposalLifetime: Duration = .seconds(86_400)
        public let origin: ConfigurationOrigin

        /// Whether to import, generate, activate, restore or destroy a key requires two administrators.
        public var hasDualControl: Bool { dualControl.isWanted }
        /// Whether `operator` (root and the gateway's own user) counts as one of them.
        public var countsOperator: Bool { dualControl.countsOperator }

        static let settings: [Setting<Self>] = [
            .value(
                "issuerId", \.issuerID, .assignedIdentifier,
                missing: "the account's issuer ID in App Store Connect, such as 57246542-96fe-1a63-e053-0824d011072a",
                "the account's issuer ID in App Store Connect; signed as it is written"
            ).shown { _ in nil },
            .key(
                "apps", "a list", missing: "a list with the bundleId and features of each app",
                "the apps that the gateway signs for, at least one", members: App.reference,
                outline: { .group("apps", $0.apps.map { .element($0.bundleID, $0.outline) }) }),
            .key(
                "keys", "a list", missing: "a list with the keyId and uri of each key",
                "the keys that may sign for them, at least one", members: Key.reference,
                outline: { .group("keys", $0.keys.map { .element($0.keyID, $0.outline) }) }),
            .value(
                "activeKey", \.activeKeyID, .assignedIdentifier, missing: "the keyId of the key that signs",
                "the `keyId` of the key that signs, one of `keys`. With an audit log, it applies only until the register "
                    + "knows the account's keys, see [key lifecycle](key-life.md#what-wins)"),
            .value(
                "dualControl", \.dualControl, .dualControl,
                "`true`: import, generation, activation, restoration and destruction of a key need [two "
                    + "administrators](key-life.md#two-administrators); needs `audit`. `{operator: false}`: the same, and "
                    + "root and the gateway's own user do not count as an administrator"),
            .value(
                "proposalLifetime", \.proposalLifetime, .seconds(60...2_592_000),
                "seconds that a proposal waits for the second administrator"),
        ]

        static var reference: [SettingReference] { reference(of: Account(origin: ConfigurationOrigin(source: ""))) }
    }

    public struct App: SettingSection {
        public internal(set) var bundleID = ""
        /// The IDs of the features that clients may request: at least one, each once.
        public internal(set) var features: [String] = []
        public let origin: ConfigurationOrigin

        static let settings: [Setting<Self>] = [
            .value(
                "bundleId", \.bundleID, .identifier, missing: "the app's bundle ID, such as com.example.app",
                "the app's bundle ID; unique in the whole file"
            ).shown { _ in nil },
            .key(
                "features", "a list", standard: "required",
                "the features that may be requested, at least one, without duplicates",
                outline: { .set("features", $0.features) }),
        ]

        static var reference: [SettingReference] { reference(of: App(origin: ConfigurationOrigin(source: ""))) }
    }

    struct DualControl: Sendable {
        let isWanted: Bool
        let countsOperator: Bool
    }
}

extension SettingKind<GatewayConfiguration.DualControl> {
    /// `true`, `false`, or a mapping for two administrators that says whether `operator` may be one of them.
    fileprivate static var dualControl: Self {
        Self(
            values: "`true`, `false`, `{operator: false}`",
            read: { node, findings in
                guard case .mapping = node.content else {
                    return node.boolean(findings).map { .init(isWanted: $0, countsOperator: true) }
                }
                var mapping = MappingReader(node, keys: ["operator"], findings)
                return mapping?.required(
                    "operator", "true or false: are root and the gateway's own user an administrator")?
                    .boolean(findings).map { .init(isWanted: true, countsOperator: $0) }
            },
            text: { $0.isWanted && !$0.countsOperator ? "true without operator" : $0.isWanted.description })
    }
}
