extension GatewayConfiguration {
    /// Rehearsals of what can happen to keys.
    public struct Drills: Sendable {
        /// Where their records are kept; a directory, made when it is not there.
        public let directory: File
    }

    /// Where the records of drills are kept: where the configuration says, else beside the audit log's database. Nil when there
    /// is neither.
    public var drillDirectory: String? {
        if let drills { return drills.directory.path }
        guard let path = audit?.database.path, let slash = path.lastIndex(of: "/") else { return nil }
        return "\(path[...slash])drills"
    }
}
