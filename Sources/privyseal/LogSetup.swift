import GatewayConfiguration
import Logging

/// Where log lines go: standard error, always; standard output is for answers.
enum LogSetup {
    static func bootstrap(_ logging: GatewayConfiguration.Logging) {
        let level = Logger.Level(rawValue: logging.level.rawValue) ?? .info
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                switch logging.format {
                case .text: StreamLogHandler.standardError(label: label)
                case .json: JSONLogHandler(label: label)
                }
            handler.logLevel = level
            return handler
        }
    }

    /// For commands that say themselves what went wrong. What nobody else says is left: a secret that others can read.
    static func bootstrapQuietly() {
        LoggingSystem.bootstrap { label in
            guard label == "privyseal.secrets" else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
    }
}
