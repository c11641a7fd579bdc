extension GatewayConfiguration {
    /// The settings of the drills, which rehearse key incidents and rotations.
    public struct Drills: Sendable {
        /// The directory of the drill records. The program creates it if it is missing.
        public let directory: File
    }

    /// The configured directory, or `drills` next to the audit log's database. Nil if neither is configured.
    public var drillDirectory: String? {
        if let drills { return drills.directory.path }
        guard let path = audit?.database.path, let slash = path.lastIndex(of: "/") else { return nil }
        return "\(path[...slash])drills"
    }
}
