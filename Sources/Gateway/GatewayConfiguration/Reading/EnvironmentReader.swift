import SigningKit

/// Reads the `PRIVYSEAL_…` variables, for settings that differ between processes with the same file.
struct EnvironmentReader {
    private enum Variable: String, CaseIterable {
        case listen = "PRIVYSEAL_LISTEN"
        case adminListen = "PRIVYSEAL_ADMIN_LISTEN"
        case metricsListen = "PRIVYSEAL_METRICS_LISTEN"
        case verification = "PRIVYSEAL_VERIFICATION"
        case logLevel = "PRIVYSEAL_LOG_LEVEL"
        case logFormat = "PRIVYSEAL_LOG_FORMAT"
        case drainDelay = "PRIVYSEAL_DRAIN_DELAY"
        case shutdownGracePeriod = "PRIVYSEAL_SHUTDOWN_GRACE_PERIOD"
    }

    private static let prefix = "PRIVYSEAL_"

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(
        _ environment: [String: String], into configuration: inout GatewayConfiguration,
        _ draft: inout ConfigurationDraft
    ) {
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Self.prefix) {
            let origin = ConfigurationOrigin(source: name)
            guard let variable = Variable(exactly: name) else {
                warn(name)
                continue
            }
            let node = SettingNode(content: .scalar(text, isPlain: true), origin: origin)
            set(variable, MisplacedSecrets(findings).remove(from: node), &configuration, &draft)
        }
    }

    private func set(
        _ variable: Variable, _ node: SettingNode, _ configuration: inout GatewayConfiguration,
        _ draft: inout ConfigurationDraft
    ) {
        let process = ProcessReader(findings)
        let listeners = ListenersReader(findings)
        switch variable {
        case .listen: listeners.address(node, into: &draft[.public])
        case .adminListen: listeners.address(node, into: &draft[.admin])
        case .metricsListen: listeners.address(node, into: &draft[.metrics])
        case .verification: process.verification(node, &configuration)
        case .logLevel: process.logLevel(node, &configuration)
        case .logFormat: process.logFormat(node, &configuration)
        case .drainDelay: process.drainDelay(node, &configuration)
        case .shutdownGracePeriod: process.shutdownGracePeriod(node, &configuration)
        }
    }

    /// Not a fault: service managers and containers pass on variables that are meant for other programs or versions.
    private func warn(_ name: String) {
        let known = Variable.allCases.map(\.rawValue)
        let suggestion = Suggestion.nearest(to: name, among: known).map { "did you mean \($0)? The" } ?? "the"
        findings.warn(
            "is not a known variable; \(suggestion) variables are \(known.joined(separator: ", "))",
            at: ConfigurationOrigin(source: Excerpt.name(name)))
    }
}
