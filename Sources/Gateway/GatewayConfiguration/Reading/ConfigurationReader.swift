import SigningKit

struct ConfigurationReader {
    private let vocabulary: PluginNames
    private let findings: Findings

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    private static let keys = [
        "listen", "listeners", "anonymous", "clients", "limits", "tracing", "audit", "drills", "verification",
        "validation",
        "logging", "drainDelay", "shutdownGracePeriod", "proofInterval", "backends", "accounts",
    ]

    func read(
        _ root: SettingNode, into configuration: inout GatewayConfiguration, _ draft: inout ConfigurationDraft
    ) {
        guard let mapping = MappingReader(root, keys: Self.keys, findings) else { return }
        access(mapping, &configuration, &draft)
        audit(mapping, &configuration)
        configuration.drills = mapping.optional("drills").flatMap { DrillsReader(findings).read($0) }
        process(mapping, &configuration)
        let backends = BackendsReader(vocabulary, findings)
        configuration.backends = backends.read(mapping.optional("backends"))
        configuration.backendTexts = backends.texts(configuration.backends)
        let what = "a list with the issuerId, apps, keys and activeKey of each account"
        if let accounts = mapping.required("accounts", what) {
            var reader = AccountReader(vocabulary, findings)
            configuration.accounts = accounts.list(of: "account", findings)?.compactMap { reader.read($0) } ?? []
        }
        // An invalid `audit` already has its own fault.
        if configuration.isAuditOff || !mapping.isPresentOrMisspelt("audit") {
            DualControlRules(findings).requireLog(for: configuration.accounts)
        }
    }

    private func access(
        _ mapping: MappingReader, _ configuration: inout GatewayConfiguration, _ draft: inout ConfigurationDraft
    ) {
        let listeners = ListenersReader(findings)
        mapping.optional("listen").map { listeners.address($0, ofFileInto: &draft[.public]) }
        mapping.optional("listeners").map { listeners.read($0, into: &draft) }
        draft.anonymous = mapping.optional("anonymous").map {
            OptionalSetting(value: $0.boolean(findings), origin: $0.origin)
        }
        if let clients = mapping.optional("clients") {
            var reader = ClientReader(vocabulary, findings)
            configuration.clients = clients.list(of: "client", findings)?.compactMap { reader.read($0) } ?? []
        }
        mapping.optional("limits").map { LimitsReader(findings).read($0, into: &configuration.limits) }
        configuration.tracing = mapping.optional("tracing").flatMap { TracingReader(findings).read($0) }
    }

    private func audit(_ mapping: MappingReader, _ configuration: inout GatewayConfiguration) {
        let reader = AuditSectionReader(vocabulary, findings)
        if let node = mapping.optional("audit") {
            reader.read(node, into: &configuration)
        } else if !mapping.isMisspelt("audit") {
            reader.warnOfMissingAudit(at: mapping.origin)
        }
    }

    private func process(_ mapping: MappingReader, _ configuration: inout GatewayConfiguration) {
        let process = ProcessReader(findings)
        mapping.optional("verification").map { process.verification($0, &configuration) }
        mapping.optional("validation").map { process.validation($0, &configuration) }
        mapping.optional("logging").map { process.logging($0, &configuration) }
        mapping.optional("drainDelay").map { process.drainDelay($0, &configuration) }
        mapping.optional("proofInterval").map { process.proofInterval($0, &configuration) }
        mapping.optional("shutdownGracePeriod").map { process.shutdownGracePeriod($0, &configuration) }
    }
}
