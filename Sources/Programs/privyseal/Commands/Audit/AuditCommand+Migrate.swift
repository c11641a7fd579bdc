import ArgumentParser
import AuditKit
import GatewayConfiguration
import Glibc
import Signing
import SigningKit
import TransparencyLog

extension AuditCommand {
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Move the log to another database.",
            discussion: """
                  privyseal audit migrate --from /var/lib/privyseal/audit.db \\
                    --config gateway.yaml
                  privyseal audit migrate --from sqlite:/var/lib/privyseal/audit.db \\
                    --to "postgresql://privyseal@db1/privyseal?sslmode=verify-full"

                Stop the gateway first. With --config, the log moves to the configured database. The log keeps its \
                name, key, entries, proofs and checkpoints.

                The command verifies the log, appends an entry 'moved' that names the new database, copies everything \
                in one transaction, verifies the copy, and appends an entry 'continued' to it. After that, a gateway \
                that is started with the old database refuses it. If the command was interrupted, run it again.
                """)

        @Option(
            help: ArgumentHelp("The database that holds the log: a path, or a URL.", valueName: "database"),
            completion: .file(extensions: ["db"]))
        var from: String

        @Option(help: ArgumentHelp("The new database: a path, or a URL.", valueName: "database"))
        var to: String?

        @Option(
            help: ArgumentHelp("A configuration that names the new database and the log's key.", valueName: "file"),
            completion: .file(extensions: ["yaml", "yml"]))
        var config: String?

        @Option(
            help: ArgumentHelp(
                "The log's private key; without it, the configured one, or the path of --from and '.key'.",
                valueName: "file"),
            completion: .file(extensions: ["key"]))
        var key: String?

        @Option(
            help: ArgumentHelp(
                "With --to: the file or credential with the password of the new database.",
                valueName: "file:path|credential:name"))
        var passwordSource: String?

        @Flag(help: "With --to: accept a database without a synchronous standby.")
        var oneServer = false

        func validate() throws {
            guard (to == nil) != (config == nil) else { throw ValidationError("Give either --to or --config.") }
            guard to != nil || (passwordSource == nil && !oneServer) else {
                throw ValidationError("--password-source and --one-server belong to --to; --config has both.")
            }
            guard key != nil || config != nil || !from.hasPrefix("postgresql:") else {
                throw ValidationError("Give the log's private key with --key.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let audit = try config.map { try AuditLogOption.audit(of: ConfigurationOption.load($0), $0) }
            var source = AuditLocation(from)
            let path = key ?? audit?.key.path ?? (source.path ?? source.place) + ".key"
            guard try source.store.exists(at: source) else {
                throw StandardError.failure("There is no audit log at \(source.place).", status: 64)
            }
            let signer = try StandardError.attempt(64) { () throws(CommandError) in try AuditKeyFile(path).read() }
            var target = audit?.location(of: signer.name) ?? AuditLocation(to ?? "", origin: signer.name)
            if let passwordSource {
                target.password = { () throws(KeyError) in try FileSecretSource().secret(passwordSource) }
            }
            if oneServer { target.durability = .oneServer }
            // The source was used with its durability. It only gets one more entry.
            source.durability = .oneServer
            (source.readsPrimary, source.origin) = (true, signer.name)
            // Held until the end: a running gateway holds it, too.
            let lock = try KeyRegisterLock(path, source)
            defer { withExtendedLifetime(lock) {} }
            let collections =
                try audit.map { [try CheckpointCollection($0.checkpoints.file.path, isGiven: false)] } ?? []
            let size = try await LogMigration(
                source: source, target: target, signer: signer, externals: collections.map(\.checkpoints)
            ).run()
            print("\(size) entries of \(signer.name) were copied to \(target.place).")
            print(
                "Give this database to the gateway, and keep \(source.place) with your backups: nothing is appended to it."
            )
        }
    }
}
