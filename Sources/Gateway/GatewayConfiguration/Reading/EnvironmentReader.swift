import SigningKit

/// Reads the `PRIVYSEAL_…` variables, for settings that differ between processes with the same file.
struct EnvironmentReader {
    private static let prefix = "PRIVYSEAL_"

    let findings: Findings

    func read(_ environment: [String: String], into configuration: inout GatewayConfiguration) {
        let variables = GatewayConfiguration.settings.flatMap(\.variables)
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Self.prefix) {
            guard let variable = variables.first(where: { $0.name.hasSameBytes(as: name) }) else {
                warn(name, known: variables.map(\.name))
                continue
            }
            let origin = ConfigurationOrigin(source: name)
            let node = SettingNode(content: .scalar(text, isPlain: true), origin: origin)
            _ = variable.read(MisplacedSecrets(findings: findings).remove(from: node), &configuration, findings)
        }
    }

    /// Not a fault: service managers and containers pass on variables that are meant for other programs or versions.
    private func warn(_ name: String, known: [String]) {
        let suggestion = Suggestion.question(Suggestion.nearest(to: name, among: known))
        findings.warn(
            "is not a known variable; \(suggestion) variables are \(known.joined(separator: ", "))",
            at: ConfigurationOrigin(source: Excerpt.name(name)))
    }
}
