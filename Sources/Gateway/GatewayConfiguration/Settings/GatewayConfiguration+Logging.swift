extension GatewayConfiguration {
    /// The level and the format of the log on standard error.
    public struct Logging: Hashable, Sendable {
        public enum Level: String, CaseIterable, Sendable {
            case trace, debug, info, notice, warning, error, critical
        }

        public enum Format: String, CaseIterable, Sendable {
            case text
            /// One JSON object per line.
            case json
        }

        public internal(set) var level: Level = .info
        public internal(set) var format: Format = .text
    }
}
