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

    public struct Tracing: SettingSection {
        /// A collector that accepts OTLP over HTTP.
        public internal(set) var endpoint = ""
        /// The fraction of the traces that begin here and are kept, from 0 to 1.
        public internal(set) var sampling = 1.0
        public internal(set) var serviceName = "privyseal"

        static let settings: [Setting<Self>] = [
            .value(
                "endpoint", \.endpoint, .url(for: .traces, "an `http:` or `https:` URL"),
                missing: "the URL of a collector that accepts OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces",
                needsRestart: true,
                "where the collector takes OTLP over HTTP: a URL with its path, without user, password and query"),
            .value(
                "sampling", \.sampling, .number(0...1), needsRestart: true,
                "the fraction to keep of the traces that begin here, such as `0.1`"),
            .value(
                "serviceName", \.serviceName, .identifier, needsRestart: true, "`service.name` in the traces"),
        ]
    }
}
