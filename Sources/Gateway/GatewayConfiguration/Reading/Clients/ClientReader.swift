/// Reads the clients, and detects names and credentials that an earlier client already has.
struct ClientReader {
    typealias Client = GatewayConfiguration.Client

    /// The gateway's own names for callers that are not clients.
    static let reservedNames = ["anonymous", "operator", "gateway"]
    static let dailyQuotas = 1...1_000_000_000

    private let findings: Findings
    private let rules: RuleReader
    private var proofs: CredentialReader
    private var names: [String: ConfigurationOrigin] = [:]

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.findings = findings
        rules = RuleReader(vocabulary, findings)
        proofs = CredentialReader(findings)
    }

    /// Nil, with a fault in `findings`, if the client cannot be used.
    mutating func read(_ node: SettingNode) -> Client? {
        let keys = [
            "name", "administrator", "tokens", "certificates", "uids", "allow", "rate", "dailyQuota",
        ]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return nil }
        let name = name(in: mapping)
        let administrator = mapping.optional("administrator").map { $0.boolean(findings) } ?? false
        let tokens = list("tokens", of: "token", in: mapping) { $0.token($1) }
        let certificates = list("certificates", of: "certificate", in: mapping) { $0.certificate($1) }
        let uids = list("uids", of: "uid", in: mapping) { $0.userID($1) }
        let rules = mapping.optional("allow")?.list(of: "rule", findings)?.compactMap { self.rules.read($0) } ?? []
        let rate = mapping.optional("rate").flatMap { self.rate($0) }
        let quota = mapping.optional("dailyQuota")?.wholeNumber(in: Self.dailyQuotas, findings)
        checkUse(mapping, isAdministrator: administrator ?? true)
        guard let name, let administrator else { return nil }
        return Client(
            name: name, isAdministrator: administrator, tokens: tokens, certificates: certificates, uids: uids,
            allow: rules, rate: rate, dailyQuota: quota, origin: node.origin)
    }

    private mutating func name(in mapping: MappingReader) -> String? {
        guard let node = mapping.required("name", "the client's name in logs and metrics, such as shop") else {
            return nil
        }
        let name = node.parsed(findings) { text throws(InvalidValue) in
            guard Self.isName(text) else {
                throw InvalidValue(
                    "must be 1 to 63 lower-case letters, digits, periods, hyphens and underscores, and begin with a letter or "
                        + "a digit, such as shop")
            }
            guard !Self.reservedNames.contains(text) else {
                throw InvalidValue("is reserved for callers that are not clients; give another name")
            }
            return text
        }
        guard let name else { return nil }
        if let first = names[name] {
            findings.fault(
                .alreadyTaken(what: "the client name \(Excerpt.quoted(name))", first: first), at: node.origin)
            return nil
        }
        names[name] = node.origin
        return name
    }

    private mutating func list<Element>(
        _ key: String, of what: String, in mapping: MappingReader,
        _ read: (inout CredentialReader, SettingNode) -> Element?
    ) -> [Element] {
        guard let nodes = mapping.optional(key)?.list(of: what, findings) else { return [] }
        return nodes.compactMap { read(&proofs, $0) }
    }

    private func rate(_ node: SettingNode) -> GatewayConfiguration.Rate? {
        guard let mapping = MappingReader(node, keys: ["perSecond", "burst"], findings) else { return nil }
        let perSecond = mapping.required("perSecond", "the number of requests allowed per second, such as 50 or 0.5")?
            .number(in: GatewayConfiguration.Rate.rates, findings)
        let burst = mapping.required("burst", "the number of requests allowed at once, such as 100")?
            .wholeNumber(in: GatewayConfiguration.Rate.bursts, findings)
        guard let perSecond, let burst else { return nil }
        return GatewayConfiguration.Rate(perSecond: perSecond, burst: burst)
    }

    /// Checks which settings are present, even if invalid, so that one mistake is one fault.
    private func checkUse(_ mapping: MappingReader, isAdministrator: Bool) {
        if !["tokens", "certificates", "uids"].contains(where: mapping.isPresentOrMisspelt) {
            let sentence = "has no credentials; give it tokens, certificates or uids"
            findings.fault(.notAllowed(sentence), at: mapping.origin)
        }
        if !mapping.isPresentOrMisspelt("allow"), !isAdministrator {
            let sentence =
                "may do nothing, because it has no allow and is not an administrator; give it allow, or remove it"
            findings.warn(sentence, at: mapping.origin)
        }
    }

    private static func isName(_ text: String) -> Bool {
        let isWord = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isWord && (1...63).contains(text.utf8.count) && !text.hasPrefix(".") && !text.hasPrefix("-")
            && !text.hasPrefix("_")
    }
}
