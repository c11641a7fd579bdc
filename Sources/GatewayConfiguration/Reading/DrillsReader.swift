/// Reads `drills`. Nothing is opened.
struct DrillsReader {
    private static let example = "/var/lib/privyseal/drills"

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    /// - Parameters:
    ///   - node: nil when everything is left to its default.
    ///   - database: the audit log's; the default is beside it.
    func read(
        _ node: SettingNode?, beside database: GatewayConfiguration.File?, _ file: ConfigurationOrigin
    ) -> GatewayConfiguration.Drills? {
        let directory: GatewayConfiguration.File?
        if let node {
            directory = MappingReader(node, keys: ["directory"], findings)?
                .required(
                    "directory", "the absolute path of a directory for the records of drills, such as \(Self.example)")?
                .directory(findings, such: Self.example)
        } else {
            directory = database.map { database in
                let place = database.path.split(separator: "/").dropLast()
                let path = (place + ["drills"]).map { "/" + $0 }.joined()
                return GatewayConfiguration.File(path: path, origin: file.child("drills").child("directory"))
            }
        }
        return directory.map(GatewayConfiguration.Drills.init)
    }
}
