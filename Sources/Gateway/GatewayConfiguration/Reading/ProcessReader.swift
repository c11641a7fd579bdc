/// Reads the settings of the process, from the file and from the environment.
struct ProcessReader {
    /// The allowed values of `shutdownGracePeriod`, in seconds.
    static let gracePeriods = 1...3600
    /// The allowed values of `drainDelay`, in seconds.
    static let drainDelays = 0...3600

    /// The allowed values of `proofInterval`, in seconds.
    static let proofIntervals = 1...86_400

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func verification(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        let verification: GatewayConfiguration.Verification?
        if case .mapping = node.content {
            verification = sampling(node)
        } else {
            verification = node.parsed(findings) { text throws(InvalidValue) in
                try GatewayConfiguration.Verification(text)
            }
        }
        configuration.verification = verification ?? configuration.verification
    }

    private func sampling(_ node: SettingNode) -> GatewayConfiguration.Verification? {
        guard let mapping = MappingReader(node, keys: ["sampled"], findings),
            let interval = mapping.required("sampled", "N, to verify one of N signatures, such as 100"),
            let number = interval.wholeNumber(findings)
        else { return nil }
        do {
            return try GatewayConfiguration.Verification(interval: number)
        } catch {
            findings.fault(.notAllowed(error.sentence), at: interval.origin)
            return nil
        }
    }

    func validation(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        guard let mapping = MappingReader(node, keys: ["advancedCommerce"], findings) else { return }
        if let level = mapping.optional("advancedCommerce")?.choice(
            GatewayConfiguration.Validation.AdvancedCommerce.self, findings)
        {
            configuration.validation.advancedCommerce = level
        }
    }

    func logging(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        guard let mapping = MappingReader(node, keys: ["level", "format"], findings) else { return }
        mapping.optional("level").map { logLevel($0, &configuration) }
        mapping.optional("format").map { logFormat($0, &configuration) }
    }

    func logLevel(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        if let level = node.choice(GatewayConfiguration.Logging.Level.self, findings) {
            configuration.logging.level = level
        }
    }

    func logFormat(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        if let format = node.choice(GatewayConfiguration.Logging.Format.self, findings) {
            configuration.logging.format = format
        }
    }

    func drainDelay(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        if let delay = node.seconds(in: Self.drainDelays, findings) { configuration.drainDelay = delay }
    }

    func proofInterval(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        if let interval = node.seconds(in: Self.proofIntervals, findings) { configuration.proofInterval = interval }
    }

    func shutdownGracePeriod(_ node: SettingNode, _ configuration: inout GatewayConfiguration) {
        if let period = node.seconds(in: Self.gracePeriods, findings) { configuration.shutdownGracePeriod = period }
    }
}
