extension GatewayConfiguration {
    /// What is written to the standard error, and in which form.
    public struct Logging: Hashable, Sendable {
        public enum Level: String, CaseIterable, Sendable {
            case trace, debug, info, notice, warning, error, critical
        }

        public enum Format: String, CaseIterable, Sendable {
            /// For people.
            case text
            /// One JSON object in each line.
            case json
        }

        public internal(set) var level: Level = .info
        public internal(set) var format: Format = .text
    }
}
