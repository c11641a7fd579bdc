/// Reads `drills`, without opening the directory.
struct DrillsReader {
    private static let example = "/var/lib/privyseal/drills"

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode) -> GatewayConfiguration.Drills? {
        MappingReader(node, keys: ["directory"], findings)?
            .required(
                "directory", "the absolute path of a directory for the records of drills, such as \(Self.example)")?
            .directory(findings, such: Self.example)
            .map(GatewayConfiguration.Drills.init)
    }
}
