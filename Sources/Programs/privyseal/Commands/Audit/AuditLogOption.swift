import ArgumentParser
import AuditKit
import GatewayConfiguration
import Glibc
import TransparencyLog

/// Selects the log: `--config FILE`, `--database PATH`, or both, to replace the configured database.
struct AuditLogOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which names the log.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            """
            The log's database, such as a copy: a path, or a postgresql: URL. With --config, in place of the \
            configured one.
            """, valueName: "path"),
        completion: .file(extensions: ["db"]))
    var database: String?

    @Option(help: ArgumentHelp("The name of the log, if a database holds several.", valueName: "name"))
    var origin: String?

    func validate() throws {
        guard configuration != nil || database != nil else {
            throw ValidationError("Give the log with --config FILE or --database PATH.")
        }
    }

    /// - Throws: `ExitCode`, after printing the error.
    func open() throws -> AuditSource {
        let configuration = try configuration.map(ConfigurationOption.load)
        let audit = try configuration.map { try Self.audit(of: $0, self.configuration ?? "") }
        guard var location = database.map({ AuditLocation($0) }) ?? audit?.location else {
            throw ExitCode.validationFailure
        }
        if let origin { location.origin = origin }
        let reader = try location.read()
        if let origin, reader.identity.origin != origin {
            let found = reader.identity.origin
            reader.close()
            throw CommandError("The audit log in \(location.text) is \(found), not \(origin).")
        }
        return AuditSource(location: location, reader: reader, configuration: configuration, own: audit)
    }

    /// All logs of the database.
    func openAll() throws -> [AuditSource] {
        let configuration = try configuration.map(ConfigurationOption.load)
        let audit = try configuration.map { try Self.audit(of: $0, self.configuration ?? "") }
        guard let location = database.map({ AuditLocation($0) }) ?? audit?.location(of: nil) else {
            throw ExitCode.validationFailure
        }
        let readers = try location.store.readAll(at: location)
        guard !readers.isEmpty else { throw CommandError("There is no audit log in \(location.place).") }
        return readers.map {
            AuditSource(location: location, reader: $0, configuration: configuration, own: audit)
        }
    }

    /// - Throws: `ExitCode` 78 if the configuration has no audit log, after printing the error.
    static func audit(of configuration: GatewayConfiguration, _ path: String) throws -> GatewayConfiguration.Audit {
        if let audit = configuration.audit { return audit }
        throw StandardError.failure("\(path) has no audit section: this gateway keeps no log.", status: 78)
    }
}

/// Selects all logs of a database with several.
struct AllLogsOption: ParsableArguments {
    @Flag(help: "Use all logs in the database, not one.")
    var allLogs = false
}

/// A log that is open for reading, and its configuration.
struct AuditSource {
    let location: AuditLocation
    let reader: any AuditReader
    /// Nil if only the database was named.
    let configuration: GatewayConfiguration?
    /// The settings of the log; those of the gateway's own log for that of another gateway.
    let audit: GatewayConfiguration.Audit?

    /// - Parameter own: the settings of the gateway's own log.
    init(
        location: AuditLocation, reader: any AuditReader, configuration: GatewayConfiguration?,
        own: GatewayConfiguration.Audit?
    ) {
        (self.location, self.reader, self.configuration) = (location, reader, configuration)
        let isFleet = reader.identity.origin == configuration?.fleet?.origin
        audit = isFleet ? configuration?.fleetLog : own
    }

    /// The path of the database; nil for a log on a server.
    var path: String? { location.path }
}

extension AuditReader {
    /// - Throws: `CommandError` that says which entries are missing.
    func refuse(_ missing: MissingEntries?) throws {
        guard let missing else { return }
        throw CommandError(missing.sentence(beginningAt: try firstIndex()))
    }

    /// - Parameters:
    ///   - first: the first entry in the database.
    ///   - log: the name of the log, if others are read, too.
    func warnOfArchived(before first: Int, log: String? = nil) {
        let name = log.map { "\(PlainText.of($0)): " } ?? ""
        StandardError.print("privyseal: \(name)Entries 0 to \(first - 1) were archived and are not included.")
    }
}

/// The public keys that verify a log.
struct AuditKeyOption: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            """
            A file with public keys (vkey), one in each line: the log's, and a cosigner's. Repeat the option for more \
            files; in a command with --config, the log's own .pub file is used too.
            """, valueName: "vkey-file"),
        completion: .file(extensions: ["pub"]))
    var files: [String] = []

    /// - Parameter named: the keys of logs in a policy.
    /// - Throws: `ExitCode` 64 if there is no key or a file cannot be used, after printing the error.
    func verifiers(for source: AuditSource?, and named: [NoteVerifier] = []) throws -> [NoteVerifier] {
        let own = source?.audit.map { AuditKeyFile($0.key.path) }
        guard own != nil || !files.isEmpty || !named.isEmpty else {
            throw StandardError.failure(
                "Nothing can be verified without the log's public key: give --key FILE, with a key that does not come "
                    + "from the copy itself.", status: ExitCode.validationFailure.rawValue)
        }
        let given = try StandardError.attempt(64) { () throws in
            try (own?.publicKeys() ?? []) + files.flatMap { try InputFile.publicKeys(in: $0) }
        }
        // A policy that has keys for the name of a log accepts no other key for it.
        let accepted = given.filter { key in
            let sameName = named.filter { $0.name.utf8.elementsEqual(key.name.utf8) }
            return sameName.isEmpty || sameName.contains { $0.text.utf8.elementsEqual(key.text.utf8) }
        }
        return accepted + named.filter { key in !accepted.contains { $0.text.utf8.elementsEqual(key.text.utf8) } }
    }
}

/// The witnesses that must have cosigned.
struct AuditPolicyOption: ParsableArguments {
    @Option(
        name: .customLong("policy"),
        help: ArgumentHelp(
            """
            A file with the witnesses that must have cosigned the newest checkpoint (C2SP tlog-policy); its logs' keys \
            count like those of --key. With --config, in place of the configured one.
            """, valueName: "file"),
        completion: .file())
    var file: String?

    /// Nil without a policy.
    ///
    /// - Throws: `ExitCode` 64 if the file cannot be used, after printing the error.
    func policy(for source: AuditSource?) throws -> WitnessPolicy? {
        guard let file else { return source?.audit?.checkpoints.policy?.policy }
        return try StandardError.attempt(64) { () throws(CommandError) in
            let bytes = try InputFile.contents(of: file, limit: WitnessPolicy.maximumSize)
            do throws(WitnessPolicyError) { return try WitnessPolicy(parsing: bytes) } catch {
                throw CommandError("\(file) is not a policy of witnesses. \(error)")
            }
        }
    }
}

extension AuditKeyOption {
    /// The keys of one of several logs: its own, and its cosigner's.
    ///
    /// - Throws: `ExitCode` 64 if its own key is missing, after printing the error.
    func verifiers(
        for source: AuditSource, of origin: String, and named: [NoteVerifier]
    ) throws -> [NoteVerifier] {
        let verifiers = try verifiers(for: source, and: named).filter {
            $0.name == origin || $0.name == AuditComposition.cosigner(of: origin)
        }
        guard verifiers.contains(where: { $0.name == origin }) else {
            throw StandardError.failure(
                "The log \(PlainText.of(origin)) cannot be verified without its public key: give --key FILE for it.",
                status: ExitCode.validationFailure.rawValue)
        }
        return verifiers
    }
}

/// The checkpoints from other places, to compare a log with.
struct AuditCheckpointOption: ParsableArguments {
    @Option(
        name: .customLong("checkpoints"),
        help: ArgumentHelp(
            """
            A file with checkpoints from another place, each followed by an empty line. Repeat the option for more \
            files; in a command with --config, the configured file is used too.
            """, valueName: "file"),
        completion: .file())
    var files: [String] = []

    /// - Throws: `ExitCode` 64, after printing the error.
    func collections(for source: AuditSource) throws -> [CheckpointCollection] {
        try StandardError.attempt(64) {
            let own = source.audit.map { [$0.checkpoints.file.path] } ?? []
            let collections =
                try own.filter { !files.contains($0) }.map { try CheckpointCollection($0, isGiven: false) }
                + files.map { try CheckpointCollection($0) }
            return collections.filter { $0.checkpoints.count > 0 }
        }
    }
}

/// The archived segments of a log.
struct AuditArchiveOption: ParsableArguments {
    @Option(
        name: .customLong("archive"),
        help: ArgumentHelp(
            "A directory of archived segments, to read their entries too. Give the option once for each directory.",
            valueName: "directory"),
        completion: .directory)
    var directories: [String] = []

    func validate() throws {
        for directory in directories where access(directory, R_OK | X_OK) != 0 {
            throw ValidationError("--archive \(directory): \(String(cString: strerror(errno))).")
        }
    }

    var bodies: AuditArchive {
        { segment throws(AuditStoreError) in
            var failure: AuditStoreError?
            for directory in directories {
                do throws(AuditStoreError) {
                    if let bodies = try SegmentArchive(directory: directory).bodies(of: segment) { return bodies }
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return nil
        }
    }
}
