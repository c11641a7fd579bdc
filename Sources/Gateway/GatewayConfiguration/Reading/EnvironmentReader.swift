import SigningKit

/// Reads the `PRIVYSEAL_…` variables, for settings that differ between processes with the same file.
enum EnvironmentReader {
    private static let prefix = "PRIVYSEAL_"
    /// Variables of the programs in `clients/`.
    private static let ofClients: Set = [
        "PRIVYSEAL_URL", "PRIVYSEAL_TOKEN_FILE", "PRIVYSEAL_CA_FILE", "PRIVYSEAL_REPLACE_NONCE",
    ]

    static func read(
        _ environment: [String: String], into configuration: inout GatewayConfiguration, _ findings: Findings
    ) {
        let variables = GatewayConfiguration.settings.flatMap(\.variables)
        let known = variables.map(\.name)
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(prefix) && !ofClients.contains(name) {
            guard let variable = variables.first(where: { $0.name.hasSameBytes(as: name) }) else {
                // Not a fault: service managers and containers pass on variables for other programs or versions.
                let suggestion = Suggestion.question(Suggestion.nearest(to: name, among: known))
                findings.warn(
                    "is not a known variable; \(suggestion) variables are \(known.joined(separator: ", "))",
                    at: ConfigurationOrigin(source: Excerpt.name(name)))
                continue
            }
            let origin = ConfigurationOrigin(source: name)
            let secret = MisplacedSecrets.fault(in: text)
            if let secret { findings.fault(secret, at: origin) }
            let content: SettingNode.Content = secret == nil ? .scalar(text, isPlain: true) : .faulty
            _ = variable.read(SettingNode(content: content, origin: origin), &configuration, findings)
        }
    }
}
