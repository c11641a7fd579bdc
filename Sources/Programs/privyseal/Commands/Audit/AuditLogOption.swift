import ArgumentParser
import AuditKit
import GatewayConfiguration

/// Selects the log: `--config FILE`, `--database PATH`, or both, to replace the configured database.
struct AuditLogOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which names the log.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The log's database, such as a copy; with --config, in place of the configured one.", valueName: "path"),
        completion: .file(extensions: ["db"]))
    var database: String?

    func validate() throws {
        guard configuration != nil || database != nil else {
            throw ValidationError("Give the log with --config FILE or --database PATH.")
        }
    }

    /// - Throws: `ExitCode`, after printing the error.
    func open() throws -> AuditSource {
        let settings = try configuration.map(Self.settings)
        guard let location = database ?? settings?.audit.database.path else { throw ExitCode.validationFailure }
        let reader = try BuiltIns.auditStore.read(at: location)
        return AuditSource(location: location, reader: reader, settings: settings)
    }

    private static func settings(_ path: String) throws -> AuditSource.Settings {
        let configuration = try ConfigurationOption.load(path)
        guard let audit = configuration.audit else {
            throw StandardError.failure("\(path) has no audit section: this gateway keeps no log.", status: 78)
        }
        return AuditSource.Settings(audit: audit, configuration: configuration)
    }
}
