/// Reads the clients, and detects names and credentials that an earlier client already has.
struct ClientReader {
    typealias Client = GatewayConfiguration.Client

    private let findings: Findings
    private var credentials: CredentialReader
    private var names = UniqueValues<String>()

    init(_ findings: Findings) {
        self.findings = findings
        credentials = CredentialReader(findings)
    }

    /// Nil, with a fault in `findings`, if the client cannot be used.
    mutating func read(_ node: SettingNode) -> Client? {
        guard var mapping = MappingReader(node, Client.settings, findings) else { return nil }
        var client = Client(origin: node.origin)
        mapping.read(Client.settings, into: &client)
        let isNew = noteName(of: client, mapping.given)
        client.tokens = list("tokens", of: "token", in: mapping) { $0.token($1) }
        client.certificates = list("certificates", of: "certificate", in: mapping) { $0.certificate($1) }
        client.uids = list("uids", of: "uid", in: mapping) { $0.userID($1) }
        let rules = RuleReader(findings: findings)
        client.allow = mapping.optional("allow")?.list(of: "rule", findings)?.compactMap { rules.read($0) } ?? []
        checkUse(of: client, mapping.given)
        return isNew && mapping.given.faulty.isEmpty ? client : nil
    }

    private mutating func noteName(of client: Client, _ given: GivenSettings) -> Bool {
        guard let origin = given.origin(of: "name"), !given.faulty.contains("name") else { return false }
        return names.note(client.name, "the client name \(Excerpt.quoted(client.name))", at: origin, findings)
    }

    private mutating func list<Element>(
        _ key: String, of what: String, in mapping: MappingReader,
        _ read: (inout CredentialReader, SettingNode) -> Element?
    ) -> [Element] {
        guard let nodes = mapping.optional(key)?.list(of: what, findings) else { return [] }
        return nodes.compactMap { read(&credentials, $0) }
    }

    /// Checks which settings are present, even if invalid, so that one mistake is one fault.
    private func checkUse(of client: Client, _ given: GivenSettings) {
        if !["tokens", "certificates", "uids"].contains(where: given.isPresentOrMisspelt) {
            let sentence = "has no credentials; give it tokens, certificates or uids"
            findings.fault(.notAllowed(sentence), at: given.origin)
        }
        let mayAdministrate = client.isAdministrator || given.faulty.contains("administrator")
        if !given.isPresentOrMisspelt("allow"), !mayAdministrate {
            let sentence =
                "may do nothing, because it has no allow and is not an administrator; give it allow, or remove it"
            findings.warn(sentence, at: given.origin)
        }
    }
}
