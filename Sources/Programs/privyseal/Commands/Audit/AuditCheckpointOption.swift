import ArgumentParser
import AuditKit
import GatewayConfiguration
import TransparencyLog

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
        var collections = try AuditAttempt.parse { () throws(AuditSetupError) in
            var collections: [CheckpointCollection] = []
            for path in files { collections.append(try CheckpointCollection(path)) }
            return collections
        }
        if let path = source.settings?.audit.checkpoints.file.path, !files.contains(path) {
            collections.insert(
                try AuditAttempt.parse { () throws(AuditSetupError) in try CheckpointCollection(path, isGiven: false)
                },
                at: 0)
        }
        return collections.filter { $0.checkpoints.count > 0 }
    }
}
