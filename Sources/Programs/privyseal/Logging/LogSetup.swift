import GatewayConfiguration
import GatewayHTTP
import Logging
import Synchronization

/// Log lines always go to standard error; standard output is for answers.
enum LogSetup {
    static func bootstrap(_ logging: GatewayConfiguration.Logging, recent: RecentEvents) {
        set(logging.level)
        LoggingSystem.bootstrap(
            { label, provider in
                StreamedLogHandler(label: label, format: logging.format, recent: recent, metadataProvider: provider)
            }, metadataProvider: RequestScope.metadata)
    }

    /// Takes effect with the next event.
    static func set(_ level: GatewayConfiguration.Logging.Level) {
        let level = Logger.Level(rawValue: level.rawValue) ?? .info
        StreamedLogHandler.level.store(level.number, ordering: .relaxed)
    }

    /// For commands that print their own errors. Only warnings about secrets that other users can read remain, and what
    /// signer processes print.
    static func bootstrapQuietly() { quietly }

    /// Once per process: a second bootstrap would end it.
    private static let quietly: Void = {
        LoggingSystem.bootstrap { label in
            guard ["privyseal.secrets", "privyseal.signers"].contains(label) else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
    }()
}
