extension GatewayConfiguration {
    /// The log on standard error.
    public struct Logging: SettingSection, Hashable {
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

        static let settings: [Setting<Self>] = [
            .value(
                "level", \.level, .choice, variable: "PRIVYSEAL_LOG_LEVEL",
                "the least important messages that are logged"),
            .value(
                "format", \.format, .choice, variable: "PRIVYSEAL_LOG_FORMAT", needsRestart: true,
                "the form of the log: text for people, or one JSON object in each line"),
        ]
    }
}
