import ArgumentParser
import AuditKit
import Signing
import SigningKit

extension AuditCommand {
    struct Archive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "archive",
            abstract: "Write old entries to files, and with --drop remove them from the database.",
            discussion: """
                  privyseal audit archive --before 2026-01-01 --to /srv/archive --config gateway.yaml
                  privyseal audit archive --before 365d --to /srv/archive --drop \\
                    --config gateway.yaml

                Entries are written in segments of \(AuditSegment.size), each to a JSON Lines file \
                segment-00000000.jsonl with one canonical entry in each line. Only full segments that a checkpoint \
                covers are archived, and only if the whole log verifies. An existing file is left unchanged if it \
                holds the right entries.

                --drop first records in the log which entries are archived and by which user, and then removes them. \
                Their roots stay in the log, so proofs and privyseal audit verify still work. --drop needs the log's \
                private key: run it as the gateway's user. The gateway may keep running. Keep the files: without them, \
                archived entries can be neither verified nor searched.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var checkpoints: AuditCheckpointOption

        @Option(
            help: ArgumentHelp(
                "Segments whose last entry is older: 2026-01-01T00:00:00Z, 2026-01-01, or an age such as 365d.",
                valueName: "time"))
        var before: String?

        @Option(help: ArgumentHelp("The number of segments, the oldest first.", valueName: "count"))
        var segments: Int?

        @Option(
            name: .customLong("to"), help: ArgumentHelp("A directory for the files.", valueName: "directory"),
            completion: .directory)
        var directory: String

        @Flag(help: "Remove the archived entries from the database.")
        var drop = false

        @Flag(help: "Show no progress bar.")
        var quiet = false

        func validate() throws {
            guard (before == nil) != (segments == nil) else {
                throw ValidationError("Give either --before TIME or --segments COUNT.")
            }
            guard segments.map({ $0 > 0 }) ?? true else { throw ValidationError("--segments must be positive.") }
            guard !drop || (log.configuration != nil && log.database == nil) else {
                throw ValidationError("--drop changes the log itself: give --config FILE, and no --database.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let limit = try moment()
            let source = try log.open()
            // The lock lasts until the process ends.
            try ArchiveLock.take(beside: source.path)
            let collections = try checkpoints.collections(for: source)
            try verify(source, collections)
            let selection = ArchiveSelection(source.reader, externals: collections.map(\.checkpoints))
            let chosen = try selection.segments(before: limit, count: segments)
            guard !chosen.isEmpty else {
                let reason = try selection.reason(before: limit)
                print("Nothing to archive: \(reason)")
                return
            }
            try write(chosen, of: source.reader)
            let from = AuditSegment.entries(of: chosen.lowerBound).lowerBound
            let to = chosen.upperBound * AuditSegment.size
            var isDropped = false
            // The work is done before anything is printed: a lost standard output ends the process.
            defer {
                print(
                    "Entries \(from) to \(to - 1) are in \(directory), \(chosen.count) segment\(chosen.count == 1 ? "" : "s")."
                )
                if isDropped { print("They are no longer in the database.") }
            }
            guard drop, let settings = source.settings else { return }
            source.reader.close()
            try await ArchiveDropping(settings).drop(chosen)
            isDropped = true
        }

        private func moment() throws -> Timestamp? {
            guard let before else { return nil }
            var text = AuditQueryText()
            text.until = before
            return try AuditPeriodOption.query(text).until
        }

        /// An operator must examine a damaged log before anything is moved.
        private func verify(_ source: AuditSource, _ collections: [CheckpointCollection]) throws {
            let verifier = AuditVerifier(try keys.verifiers(for: source), externals: collections.map(\.checkpoints))
            let report = try Verify.report(by: verifier, on: source, isQuiet: quiet)
            guard report.isIntact else {
                let first = report.faults.first.map { " " + PlainText.of($0.description) } ?? ""
                throw StandardError.failure("Nothing is archived, because the log is not intact.\(first)")
            }
        }

        private func write(_ chosen: Range<Int>, of reader: any AuditReader) throws {
            let archive = SegmentArchive(directory)
            let roots = try reader.segmentRoots()
            for segment in chosen where segment < roots.count {
                var bodies: [[UInt8]] = []
                try reader.entries(in: AuditSegment.entries(of: segment)) { entry in
                    bodies.append(entry.body)
                    return true
                }
                try archive.write(bodies, of: segment, root: roots[segment])
            }
        }
    }
}
