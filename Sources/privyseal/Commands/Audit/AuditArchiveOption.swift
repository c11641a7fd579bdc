import ArgumentParser
import AuditKit

/// `--archive DIR`: where archived segments are.
struct AuditArchiveOption: ParsableArguments {
    @Option(
        name: .customLong("archive"),
        help: ArgumentHelp(
            "The directory of archived segments, so that their entries are read too.", valueName: "directory"),
        completion: .directory)
    var directory: String?

    /// For `AuditVerifier` and `AuditProver`.
    var bodies: AuditArchive {
        guard let directory else { return { _ throws(AuditStoreError) in nil } }
        return { segment throws(AuditStoreError) in try SegmentArchive(directory).bodies(of: segment) }
    }
}
