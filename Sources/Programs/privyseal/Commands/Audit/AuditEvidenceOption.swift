import ArgumentParser
import AuditKit
import GatewayConfiguration
import Glibc
import TransparencyLog

/// The public keys that verify a log.
struct AuditKeyOption: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            """
            A file with public keys (vkey), one in each line: the log's, and a cosigner's. Repeat the option for more \
            files; with --config, the log's own .pub file is used too.
            """, valueName: "vkey-file"),
        completion: .file(extensions: ["pub"]))
    var files: [String] = []

    /// - Throws: `ExitCode` 64 if there is no key or a file cannot be used, after printing the error.
    func verifiers(for source: AuditSource?) throws -> [NoteVerifier] {
        var paths = files
        if let key = source?.audit?.key.path { paths.insert(AuditKeyFile(key).publicPath, at: 0) }
        guard !paths.isEmpty else {
            throw StandardError.failure(
                "Nothing can be verified without the log's public key: give --key FILE, with a key that does not come "
                    + "from the copy itself.", status: ExitCode.validationFailure.rawValue)
        }
        return try StandardError.attempt(64) { try paths.flatMap { try AuditKeyFile.publicKeys(in: $0) } }
    }
}

/// The checkpoints from other places, to compare a log with.
struct AuditCheckpointOption: ParsableArguments {
    @Option(
        name: .customLong("checkpoints"),
        help: ArgumentHelp(
            """
            A file with checkpoints from another place, each followed by an empty line. Repeat the option for more \
            files; with --config, the configured file is used too.
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
            "A directory of archived segments, to read their entries too.", valueName: "directory"),
        completion: .directory)
    var directory: String?

    func validate() throws {
        guard let directory, access(directory, R_OK | X_OK) != 0 else { return }
        throw ValidationError("--archive \(directory): \(String(cString: strerror(errno))).")
    }

    var bodies: AuditArchive {
        guard let directory else { return { _ throws(AuditStoreError) in nil } }
        return { segment throws(AuditStoreError) in try SegmentArchive(directory: directory).bodies(of: segment) }
    }
}
