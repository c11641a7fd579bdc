import SigningKit

/// Reads the root of the file.
struct ConfigurationReader {
    private let vocabulary: Vocabulary
    private let findings: Findings

    init(_ vocabulary: Vocabulary, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    func read(_ root: SettingNode, into configuration: inout GatewayConfiguration) {
        let keys = [
            "listen", "verification", "validation", "logging", "drainDelay", "shutdownGracePeriod", "backends",
            "accounts",
        ]
        guard let mapping = MappingReader(root, keys: keys, findings) else { return }
        let process = ProcessReader(findings)
        mapping.optional("listen").map { process.listen($0, &configuration) }
        mapping.optional("verification").map { process.verification($0, &configuration) }
        mapping.optional("validation").map { process.validation($0, &configuration) }
        mapping.optional("logging").map { process.logging($0, &configuration) }
        mapping.optional("drainDelay").map { process.drainDelay($0, &configuration) }
        mapping.optional("shutdownGracePeriod").map { process.shutdownGracePeriod($0, &configuration) }
        configuration.backends = BackendsReader(vocabulary, findings).read(mapping.optional("backends"))
        let what = "a list with the issuerId, apps, keys and activeKey of each account"
        if let accounts = mapping.required("accounts", what) {
            var reader = AccountReader(vocabulary, findings)
            configuration.accounts = accounts.list(of: "account", findings)?.compactMap { reader.read($0) } ?? []
        }
    }
}
