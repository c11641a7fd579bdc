import ArgumentParser
import AuditKit
import AuditLog
import CoreMetrics
import GatewayConfiguration
import GatewayHTTP
import Glibc
import KeyLifecycle
import PrometheusMetrics
import ServiceManager

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve signatures over HTTP until SIGTERM or SIGINT.",
        discussion: """
            On SIGTERM, /readyz first answers 503; requests in flight finish, tokens are closed, and the exit status \
            is 0.
            On SIGHUP, the gateway reloads the configuration and the TLS files. If it cannot serve the new \
            configuration, nothing changes, and the log has the reason. privyseal reload does the same over the admin \
            listener.
            If an active key cannot be used as configured, the gateway refuses that key and serves the other accounts; \
            /readyz?app=BUNDLE-ID shows whether it signs for an app. With --strict, it exits with status 78 instead.
            """)

    @OptionGroup var config: ConfigurationOption

    @Flag(
        help:
            "Exit with status 78 if an active key is refused as it is configured. A key that is missing or does not answer is not."
    )
    var strict = false

    func run() async throws {
        // Until `Reloader` handles SIGHUP, its default action would end the process.
        signal(SIGHUP, SIG_IGN)
        let measures = ProcessHardening.apply()
        let configuration = try config.load()
        try StandardError.attempt(78) { () throws(ConfigurationError) in try configuration.requireServable() }
        let recent = RecentEvents()
        LogSetup.bootstrap(configuration.logging, recent: recent)
        StandardError.warn(of: measures)
        if let sentence = Self.openFileWarning(for: configuration) { StandardError.print("warning: \(sentence)") }
        let prometheus = PrometheusRegistry()
        ProcessCollector.install(in: prometheus)
        MetricsSystem.bootstrap(prometheus)
        let lock = try Self.lock(configuration)
        let listeners = try StandardError.attempt(78) { () throws(CommandError) in try Listeners(configuration) }
        for listener in listeners.settings { try listener.requireFreeAddress() }
        let logs = try AuditLogs.open(configuration, isServing: true)
        try StandardError.attempt(1) { () throws(CommandError) in try lock?.lockRest() }
        logs?.log.note(.start(configuration: configuration.digest, version: Version.text))
        try await GatewayService(
            configuration: configuration, path: config.path, listeners: listeners, logs: logs, recent: recent,
            prometheus: prometheus, lock: lock, isStrict: strict
        ).run()
    }

    private static func lock(_ configuration: GatewayConfiguration) throws -> KeyRegisterLock? {
        guard let audit = configuration.audit else { return nil }
        // A supervisor does not repeat a start that ended with 78, but this may succeed later.
        return try StandardError.attempt(1) { () throws(CommandError) in
            try KeyRegisterLock(audit.key.path, audit.location, timeout: .seconds(10))
        }
    }

    /// Open files besides public connections: listeners, administrators, tokens, audit log, log, temporary files.
    private static let reservedFiles = 256

    /// A warning with its remedy, if too few files may be open: a connection beyond the limit cannot be accepted, so it
    /// gets no status.
    private static func openFileWarning(for configuration: GatewayConfiguration) -> String? {
        let connections = configuration.limits.connections
        guard let limit = ProcessHardening.descriptorLimit, connections > limit - reservedFiles else { return nil }
        let most = limit > reservedFiles ? " set limits.connections to \(limit - reservedFiles) at most, or" : ""
        return
            "limits.connections is \(connections), but the process may have \(limit) files open, and needs \(reservedFiles) "
            + "for other things:\(most) raise the limit to \(connections + reservedFiles) (LimitNOFILE= in the unit, "
            + "ulimit -Hn in a shell)"
    }
}
