import ArgumentParser
import AuditKit
import AuditLog
import GatewayConfiguration
import Glibc
import Signing
import SigningKit
import TransparencyLog

extension AuditCommand {
    struct Archive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "archive",
            abstract: "Write old entries to files, and with --drop remove them from the database.",
            discussion: """
                  privyseal audit archive --before 2026-01-01 --to /srv/archive \\
                    --config gateway.yaml
                  privyseal audit archive --before 365d --to /srv/archive --drop \\
                    --config gateway.yaml

                Entries are written in segments of \(AuditSegment.size), each to a JSON Lines file \
                segment-00000000.jsonl with one canonical entry in each line. Only full segments that a checkpoint \
                covers are archived, and only if the whole log verifies. An existing file is left unchanged if it \
                holds the right entries.

                --drop first records in the log which entries are archived and by which user, and then removes them. \
                Their roots stay in the log, so proofs and privyseal audit verify still work. --drop needs the log's \
                private key: run it as the gateway's user, and in a fleet once more with --origin and the fleet's name. \
                The gateway may keep running. Keep the files: without them, archived entries can be neither verified \
                nor searched.
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
            let limit = try before.map(AuditFilterOption.moment)
            let source = try log.open()
            if drop { try requireKey(of: source) }
            // The lock lasts until the process ends.
            // For a log on a server, it is on the directory of the files.
            try Self.lock(source.path.map { DurableWrite.directory(of: $0) } ?? directory)
            let collections = try checkpoints.collections(for: source)
            try verify(source, collections)
            let selection = ArchiveSelection(reader: source.reader, externals: collections.map(\.checkpoints))
            let chosen = try selection.segments(before: limit, count: segments)
            guard !chosen.isEmpty else {
                let reason = try selection.reason(before: limit)
                print("Nothing to archive: \(reason)")
                return
            }
            if drop { try requireWitnesses(past: AuditSegment.entries(of: chosen).upperBound, source, collections) }
            try write(chosen, of: source.reader)
            var isDropped = false
            // The work is done before anything is printed: a lost standard output ends the process.
            defer {
                let entries = AuditSegment.entries(of: chosen)
                print(
                    "Entries \(entries.lowerBound) to \(entries.upperBound - 1) are in \(directory), \(chosen.count) "
                        + "segment\(chosen.count == 1 ? "" : "s").")
                if isDropped { print("They are no longer in the database.") }
            }
            guard drop, let configuration = source.configuration, let audit = source.audit else { return }
            let origin = source.reader.identity.origin
            source.reader.close()
            try await remove(chosen, from: audit, named: origin, of: configuration)
            isDropped = true
        }

        /// For the log of another gateway, `AuditSource.audit` has the settings of the own log, and so another key.
        private func requireKey(of source: AuditSource) throws {
            guard let key = source.audit?.key else { return }
            let (own, origin) = (try AuditKeyFile(key.path).read().name, source.reader.identity.origin)
            guard own.hasSameBytes(as: origin) else {
                throw CommandError(
                    "Nothing is archived: --drop works on this gateway's log and on the log of its fleet, and "
                        + "\(PlainText.of(origin)) is neither. Run the command on the machine of that gateway.")
            }
        }

        /// An operator must examine a damaged log before anything is moved.
        private func verify(_ source: AuditSource, _ collections: [CheckpointCollection]) throws {
            let verifier = AuditVerifier(try keys.verifiers(for: source), externals: collections.map(\.checkpoints))
            let report = try Verify.report(by: verifier, on: source, isQuiet: quiet)
            guard report.isIntact else {
                let first = report.faults.first.map { " " + PlainText.of($0.description) } ?? ""
                throw CommandError("Nothing is archived, because the log is not intact.\(first)")
            }
        }

        /// The proof for a witness begins at the last checkpoint that it cosigned, and needs the entries from there on.
        private func requireWitnesses(
            past end: Int, _ source: AuditSource, _ collections: [CheckpointCollection]
        ) throws {
            guard let policy = source.audit?.checkpoints.policy?.policy else { return }
            // The database keeps few checkpoints, and the file of the gateway has all.
            let notes =
                try source.reader.checkpoints().compactMap { try? SignedNote(parsing: $0.note) }
                + collections.flatMap { try $0.checkpoints.largest(CheckpointCollection.searched) }
            var last: [String: Int] = [:]
            for note in notes {
                guard let size = (try? Checkpoint(parsing: note.text))?.size,
                    let signers = try? policy.signers(of: note)
                else { continue }
                for signer in signers { last[signer.text] = max(size, last[signer.text] ?? 0) }
            }
            for witness in policy.witnesses {
                // A witness that has cosigned nothing begins with any checkpoint.
                guard let size = last[witness.verifier.text], size < end else { continue }
                throw CommandError(
                    "Nothing is archived: the witness \(PlainText.of(witness.verifier.name)) has cosigned the log up to "
                        + "\(size) entries only, and could not follow it without the entries up to \(end). Wait until it has "
                        + "cosigned more (privyseal status), or take it out of the policy.")
            }
        }

        private func write(_ chosen: Range<Int>, of reader: any AuditReader) throws {
            let archive = SegmentArchive(directory: directory)
            let roots = try reader.segmentRoots()
            for segment in chosen {
                guard segment < roots.count else { throw CommandError("Segment \(segment) is no longer in the log.") }
                var bodies: [[UInt8]] = []
                try reader.entries(in: AuditSegment.entries(of: segment)) { entry in
                    bodies.append(entry.body)
                    return true
                }
                try archive.write(bodies, of: segment, root: roots[segment])
            }
        }

        /// Durably records the archiving, and then drops the segments from the log. A stop in between loses nothing: the
        /// entry is valid while the segments exist, and the next call drops them.
        private func remove(
            _ segments: Range<Int>, from audit: GatewayConfiguration.Audit, named origin: String,
            of configuration: GatewayConfiguration
        ) async throws {
            let composition = AuditComposition(
                audit, of: configuration, isShared: configuration.fleet?.origin.hasSameBytes(as: origin) ?? false)
            try await record(AuditSegment.entries(of: segments), by: composition)
            // A gateway under load writes all the time, so wait for the database's lock.
            let store = try audit.location(of: origin).open(as: .command, timeout: .seconds(30))
            defer { store.close() }
            for segment in segments {
                // One transaction for each segment, so that a running gateway waits for one segment at most.
                try store.write { transaction throws(AuditStoreError) in
                    try transaction.drop(segmentsBefore: segment + 1)
                }
            }
        }

        private func record(_ entries: Range<Int>, by composition: AuditComposition) async throws {
            let log = try composition.open(isServing: false)
            let event = AuditEvent.archive(
                from: entries.lowerBound, to: entries.upperBound, actor: Client.operator.name)
            do { try await finally(log.close) { try await log.record(event) } } catch {
                throw CommandError("Nothing was dropped, because it could not be recorded. \(error)")
            }
        }

        /// Locks a directory until the process ends (flock(2)). Nothing else locks it. Two archivings would
        /// take each other's moved segments for damage.
        private static func lock(_ directory: String) throws(CommandError) {
            let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw CommandError("\(directory) cannot be opened: \(String(cString: strerror(errno))).")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno == EWOULDBLOCK ? "another such command is running" : String(cString: strerror(errno))
                close(descriptor)
                throw CommandError("\(directory) cannot be used for archiving now: \(reason).")
            }
        }
    }
}

extension AuditSegment {
    fileprivate static func entries(of segments: Range<Int>) -> Range<Int> {
        segments.lowerBound * size..<segments.upperBound * size
    }
}
