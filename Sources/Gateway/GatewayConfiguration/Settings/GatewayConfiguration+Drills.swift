extension GatewayConfiguration {
    /// The settings of the drills, which rehearse key incidents and rotations.
    public struct Drills: SettingSection {
        public internal(set) var directory = File.none

        private static let example = "/var/lib/privyseal/drills"

        static let settings: [Setting<Self>] = [
            .value(
                "directory", \.directory, .directory(such: example),
                missing: "the absolute path of a directory for the records of drills, such as \(example)",
                standard: "`drills` next to `audit.database`",
                "a directory for the records of drills; created if it is missing")
        ]
    }

    /// The configured directory, or `drills` next to the audit log's database. Nil if neither is configured.
    public var drillDirectory: String? {
        if let drills { return drills.directory.path }
        guard let path = audit?.database.path, let slash = path.lastIndex(of: "/") else { return nil }
        return "\(path[...slash])drills"
    }
}
