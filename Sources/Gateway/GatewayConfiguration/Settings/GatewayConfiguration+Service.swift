public import SigningKit
import StrictJSON

extension GatewayConfiguration {
    /// A service of Apple, and the keys that sign its tokens.
    public struct Service: SettingSection {
        /// In the path of requests.
        public internal(set) var name = ""
        /// The ID of a profile of the program.
        public internal(set) var profile = ""
        var teamID: String?
        var issuerID: String?
        var clientID: String?
        var serviceID: String?
        /// Empty if the service has the keys of another one.
        public internal(set) var keys: [Key] = []
        public internal(set) var activeKeyID: String?
        /// The name of the service whose keys sign.
        public internal(set) var keysOf: String?
        var dualControl = DualControl(isWanted: false, countsOperator: true)
        /// How long a proposal waits for the second administrator.
        public internal(set) var proposalLifetime: Duration = .seconds(86_400)
        /// In seconds.
        public internal(set) var lifetime: Int?
        public internal(set) var choices = ServiceTokenChoices()
        public let origin: ConfigurationOrigin

        /// The service in audit entries and in the register of keys.
        public var path: String { "services/\(name)" }

        /// See `Account.hasDualControl`.
        public var hasDualControl: Bool { dualControl.isWanted }
        /// See `Account.countsOperator`.
        public var countsOperator: Bool { dualControl.countsOperator }

        public var identifiers: [ServiceIdentifier: String] {
            let values: [(ServiceIdentifier, String?)] = [
                (.teamID, teamID), (.issuerID, issuerID), (.clientID, clientID), (.serviceID, serviceID),
            ]
            return Dictionary(values.compactMap { name, value in value.map { (name, $0) } }) { $1 }
        }

        static let settings: [Setting<Self>] = [
            .value(
                "name", \.name, .name(such: "push").once("the service name"),
                missing: "a name for requests and rules, such as push",
                "the name in `/v1/services/{name}/token` and in rules; unique"
            ).shown { _ in nil },
            .value(
                "profile", \.profile, .profile, missing: "the kind of token, one of PROFILES",
                "the kind of token, see [service tokens](service-tokens.md)"),
            .optional("teamId", \.teamID, .assignedIdentifier, "the Team ID: the claim `iss` of most tokens"),
            .optional("issuerId", \.issuerID, .assignedIdentifier, "the issuer ID in App Store Connect"),
            .optional("clientId", \.clientID, .assignedIdentifier, "the client ID that Apple gave for OAuth"),
            .optional("serviceId", \.serviceID, .assignedIdentifier, "the identifier of the service, for WeatherKit"),
            .list(
                "keys", \.keys, of: "key", .key, standard: "required without `keysOf`",
                "the keys that may sign, as in `accounts[].keys`", outline: { .keys($0) }),
            .optional(
                "activeKey", \.activeKeyID, .assignedIdentifier, standard: "required with `keys`",
                "the `keyId` of the key that signs, one of `keys`"),
            .optional(
                "keysOf", \.keysOf, .name(such: "push"),
                "the name of another service whose keys sign for this one, too. Both need the same kind of key"),
            .value(
                "dualControl", \.dualControl, .dualControl,
                "whether orders about `keys` need two administrators, as in `accounts[].dualControl`"),
            .value(
                "proposalLifetime", \.proposalLifetime, .seconds(60...2_592_000),
                "seconds that a proposal waits for the second administrator"),
            .optional(
                "lifetime", \.lifetime, .integer(1...15_777_000, unit: "s"), standard: "that of the profile",
                "seconds that a token is valid, and the most that a request may choose"),
            .list(
                "scopes", \.choices.scopes, of: "scope", .tokenText, values: "a list of texts",
                "the claim `scope` of a request that chooses none", outline: { .set("scopes", $0) }),
            .list(
                "origins", \.choices.origins, of: "origin", .identifier, values: "a list of origins",
                "the claim `origin` of a request that chooses none, such as `https://www.example.com`",
                outline: { .set("origins", $0) }),
            .optional(
                "subject", \.choices.subject, .identifier,
                "the claim `sub` of a request that chooses none, for Sign in with Apple: a Services ID or bundle ID"),
        ]

        func finish(_ given: GivenSettings, _ findings: Findings) {
            checkKeys(given, findings)
            guard given.valid("profile") != nil,
                let profile = findings.plugins.profiles.first(where: { $0.id == self.profile })
            else { return }
            for identifier in ServiceIdentifier.allCases {
                let name = identifier.rawValue
                if profile.identifiers.contains(identifier) {
                    warn(of: identifier, in: profile.family, given, findings)
                    guard !given.isPresentOrMisspelt(name) else { continue }
                    findings.fault("is missing; the profile \(profile.id) needs it", at: origin.child(name))
                } else if let origin = given.origin(of: name) {
                    findings.fault("has no place in a token of the profile \(profile.id); remove it", at: origin)
                }
            }
            for choice in [ServiceChoice.scopes, .origins, .subject] where !profile.choices.contains(choice) {
                guard let origin = given.origin(of: choice.rawValue) else { continue }
                findings.fault("has no place in a token of the profile \(profile.id); remove it", at: origin)
            }
            checkChoices(profile, given, findings)
            guard let origin = given.valid("lifetime"), let lifetime else { return }
            guard let limits = profile.lifetime else {
                findings.fault("has no place in a token of the profile \(profile.id); remove it", at: origin)
                return
            }
            if lifetime > limits.limit {
                findings.fault(
                    "is \(lifetime); Apple accepts at most \(limits.limit) seconds for the profile \(profile.id)",
                    at: origin)
            }
        }

        private func warn(
            of identifier: ServiceIdentifier, in family: ServiceKeyFamily, _ given: GivenSettings, _ findings: Findings
        ) {
            guard let origin = given.valid(identifier.rawValue), let text = identifiers[identifier],
                let warning = IdentifierForm(of: identifier, for: family).warning(about: text)
            else { return }
            findings.warn(warning, at: origin)
        }

        /// The profile refuses what Apple would refuse, so that not every request fails.
        private func checkChoices(_ profile: ServiceProfile, _ given: GivenSettings, _ findings: Findings) {
            do throws(JSONReadError) { _ = try profile.check(choices) } catch {
                let name = String(error.path.prefix { $0 != "[" })
                guard let origin = given.valid(name), case .invalid(let sentence) = error.reason else { return }
                findings.fault("has an element that \(sentence)", at: origin)
            }
        }

        private func checkKeys(_ given: GivenSettings, _ findings: Findings) {
            if let origin = given.origin(of: "keysOf") {
                for name in ["keys", "activeKey", "dualControl", "proposalLifetime"]
                where given.isPresentOrMisspelt(name) {
                    findings.fault("gives keys from elsewhere, so \(name) is not allowed; remove one", at: origin)
                }
                return
            }
            for (name, what) in [
                ("keys", "a list with the keyId and uri of each key, or keysOf"),
                ("activeKey", "the keyId of the key that signs"),
            ]
            where !given.isPresentOrMisspelt(name) && !given.isMisspelt("keysOf") {
                findings.fault("is missing; give \(what)", at: origin.child(name))
            }
            if let activeKeyID { findings.checkActiveKey(activeKeyID, among: keys, of: "service", given) }
        }
    }

    /// The services that have keys of their own, as the register of keys names them.
    public var keyedServices: [String] { services.filter { $0.keysOf == nil }.map(\.path) }

    /// The account or the service that has the key, as the register of keys names it; nil for an unknown key.
    public func owner(ofKey keyID: String) -> String? {
        let has = { (keys: [Key]) in keys.contains { $0.keyID == keyID } }
        return accounts.first { has($0.keys) }?.issuerID ?? services.first { has($0.keys) }?.path
    }

    /// Checks the references between services.
    func checkServices(_ findings: Findings) {
        func family(_ service: Service) -> ServiceKeyFamily? {
            findings.plugins.profiles.first { $0.id == service.profile }?.family
        }
        for service in services {
            guard let wanted = service.keysOf else { continue }
            let origin = service.origin.child("keysOf")
            guard let owner = services.first(where: { $0.name == wanted && $0.keysOf == nil }) else {
                let names = services.filter { $0.keysOf == nil }.map(\.name)
                let cure =
                    names.isEmpty
                    ? "no service has any, so give keys and activeKey here"
                    : Suggestion.choices("choices", for: wanted, among: names)
                findings.fault(
                    "is \(Excerpt.quoted(wanted)), which is not a service with keys of its own; \(cure)", at: origin)
                continue
            }
            guard let own = family(service), let other = family(owner), own != other else { continue }
            findings.fault(
                "names the keys of \(owner.name), which are of the kind \"\(other.rawValue)\"; the profile "
                    + "\(service.profile) needs the kind \"\(own.rawValue)\", so give it keys of its own",
                at: origin)
        }
    }
}

extension SettingKind<String> {
    fileprivate static var profile: Self {
        Self(
            values: "a profile", read: { choose($0, among: $1.plugins.profiles.map(\.id), $1) }, text: { $0 })
    }

    /// A text with inner spaces, such as `GET /v1/apps`.
    static var tokenText: Self {
        .parsed("text") { text throws(InvalidValue) in
            if let fault = TextRule.identifier.fault(in: text) { throw InvalidValue(fault) }
            return text
        }
    }
}
