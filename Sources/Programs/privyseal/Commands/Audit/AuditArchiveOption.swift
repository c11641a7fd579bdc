import ArgumentParser
import AuditKit
import Glibc

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
        return { segment throws(AuditStoreError) in try SegmentArchive(directory).bodies(of: segment) }
    }
}
