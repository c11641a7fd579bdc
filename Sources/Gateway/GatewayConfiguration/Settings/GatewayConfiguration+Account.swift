public import Signing
import SigningKit

extension GatewayConfiguration {
    /// An account in App Store Connect: one issuer ID, its apps, and the keys that sign for them.
    public struct Account: SettingSection {
        /// As written, even if it is not a UUID: Apple compares the text.
        public internal(set) var issuerID = ""
        /// At least one.
        public internal(set) var apps: [AppSettings] = []
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
            .list(
                "apps", \.apps, of: "app", .section { _ in AppSettings() },
                missing: "a list with the bundleId and features of each app",
                "the apps that the gateway signs for, at least one", members: AppSettings.reference(of: AppSettings()),
                outline: { .group("apps", $0.map { .element($0.bundleID, $0.outline) }) }),
            .list(
                "keys", \.keys, of: "key", .key, missing: "a list with the keyId and uri of each key",
                "the keys that may sign for them, at least one", members: Key.Settings.reference(of: Key.Settings()),
                outline: { .keys($0) }),
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

        func finish(_ given: GivenSettings, _ findings: Findings) {
            if let origin = given.valid("issuerId") {
                if let warning = IdentifierForm.uuid.warning(about: issuerID) { findings.warn(warning, at: origin) }
                if let first = findings.earlier("issuer ID", issuerID, at: origin) {
                    findings.warn(
                        "is also the issuer ID of another account (\(first)), maybe by mistake; check it", at: origin)
                }
            }
            findings.checkActiveKey(activeKeyID, among: keys, of: "account", given)
        }
    }

    struct DualControl: Sendable {
        let isWanted: Bool
        let countsOperator: Bool
    }
}

extension AppSettings: SettingSection {
    fileprivate init() {
        self.init(bundleID: "", features: [])
    }

    static let settings: [Setting<Self>] = [
        .value(
            "bundleId", \.bundleID, .identifier.once("the bundle ID"),
            missing: "the app's bundle ID, such as com.example.app",
            "the app's bundle ID; unique in the whole file"
        ).shown { _ in nil },
        .list(
            "features", \.features, of: "feature", .feature.once("the feature", inList: true),
            missing: "a list of features, of FEATURES",
            "the features that may be requested, at least one, without duplicates",
            outline: { .set("features", $0) }),
    ]

    /// Warns about characters that no bundle ID has (CFBundleIdentifier).
    func finish(_ given: GivenSettings, _ findings: Findings) {
        guard let origin = given.valid("bundleId"), !bundleID.hasOnlyLetters(or: "-.") else { return }
        findings.warn("has characters other than letters, digits, hyphens and periods; check it", at: origin)
    }
}

extension SettingKind<GatewayConfiguration.DualControl> {
    /// `true`, `false`, or a mapping for two administrators that says whether `operator` may be one of them.
    static var dualControl: Self {
        let boolean = SettingKind<Bool>.boolean
        return Self(
            values: "`true`, `false`, `{operator: false}`",
            read: { node, findings in
                guard case .mapping = node.content else {
                    return boolean.read(node, findings).map { .init(isWanted: $0, countsOperator: true) }
                }
                var given = GivenSettings(node, keys: ["operator"], findings)
                let what = "true or false: are root and the gateway's own user an administrator"
                return given?.required("operator", what, findings)
                    .flatMap { boolean.read($0, findings) }.map { .init(isWanted: true, countsOperator: $0) }
            },
            text: { $0.isWanted && !$0.countsOperator ? "true without operator" : $0.isWanted.description })
    }
}
