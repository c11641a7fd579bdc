import ArgumentParser
import AuditKit
import Encodings
import GatewayConfiguration
import Glibc
import SigningKit
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Find entries that were changed, removed, moved, added or put back.",
            discussion: """
                The command reads every entry, computes the tree, and compares it with each checkpoint in the log and \
                with those from another place. It needs only public keys and writes nothing: it works on a copy, on \
                another machine, and while the gateway runs.

                  privyseal audit verify --config gateway.yaml
                  privyseal audit verify --database copy.db --key audit.db.key.pub \\
                    --checkpoints from-witness

                If a cosigner's key is given too, the newest checkpoint must also have the cosigner's signature. With a \
                policy of witnesses, it must have the signatures of enough witnesses.

                With --all-logs, every log in the database is verified. Give the keys of all logs, each by --key; a \
                checkpoint file may hold the checkpoints of several logs. The log of a fleet has checkpoints of its \
                gateways; each log is compared with its own among them.

                An older copy of the whole log is consistent in itself. Only a checkpoint from another place \
                distinguishes it from the newer one.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var all: AllLogsOption
        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var witnesses: AuditPolicyOption
        @OptionGroup var checkpoints: AuditCheckpointOption
        @OptionGroup var archive: AuditArchiveOption
        @OptionGroup var output: OutputOption

        @Flag(help: "Show no progress bar.")
        var quiet = false

        func validate() throws {
            guard !all.allLogs || archive.directories.isEmpty else {
                throw ValidationError("--archive has the segments of one log: give --origin instead of --all-logs.")
            }
        }

        func run() throws {
            guard all.allLogs else {
                let source = try log.open()
                let policy = try witnesses.policy(for: source)
                // The keys of other logs would count as cosigners' keys.
                let named = policy?.logs.filter { $0.name.utf8.elementsEqual(source.reader.identity.origin.utf8) } ?? []
                let result = try verify(
                    source, with: try keys.verifiers(for: source, and: named), policy,
                    checkpoints.collections(for: source))
                try output.write(result.document, text: result.text)
                if !result.isIntact { throw ExitCode.failure }
                return
            }
            let sources = try log.openAll()
            let ofFleets = try sources.map { try CheckpointCollection(in: $0.reader) }.filter {
                $0.checkpoints.count > 0
            }
            let results = try sources.map { source in
                let origin = source.reader.identity.origin
                let collections = try checkpoints.collections(for: source) + ofFleets
                let policy = try witnesses.policy(for: source)
                return try verify(
                    source, with: try keys.verifiers(for: source, of: origin, and: policy?.logs ?? []), policy,
                    collections.map { try $0.only(of: origin) }.filter { $0.checkpoints.count > 0 || $0.isGiven })
            }
            let missing = try missingLogs(among: sources, ofFleets)
            let document: JSONMembers = ["logs": results.map(\.document), "missing": missing]
            let lines = missing.map { "\(PlainText.of($0)): missing: there is no such log in the database" }
            try output.write(document, text: (results.map(\.text) + lines).joined(separator: "\n\n"))
            if !missing.isEmpty || !results.allSatisfy(\.isIntact) { throw ExitCode.failure }
        }

        /// The logs of the given keys and checkpoints that the database lacks.
        private func missingLogs(
            among sources: [AuditSource], _ ofFleets: [CheckpointCollection]
        ) throws -> [String] {
            guard let source = sources.first else { return [] }
            let found = Set(sources.map(\.reader.identity.origin))
            // The logs of a policy may be in several databases.
            let named = try witnesses.policy(for: source)?.logs ?? []
            let known =
                try keys.verifiers(for: source, and: named).filter { key in
                    !named.contains { $0.text.utf8.elementsEqual(key.text.utf8) }
                }.map(\.name)
                + (checkpoints.collections(for: source) + ofFleets).flatMap { $0.checkpoints.origins }
            // A cosigner's key has the name of its log, and a suffix.
            return Set(known).subtracting(found).subtracting(found.map { AuditComposition.cosigner(of: $0) }).sorted()
        }

        private func verify(
            _ source: AuditSource, with verifiers: [NoteVerifier], _ policy: WitnessPolicy?,
            _ collections: [CheckpointCollection]
        ) throws -> VerificationResult {
            let verifier = AuditVerifier(
                verifiers, policy: policy, externals: collections.map(\.checkpoints), archive: archive.bodies)
            let report = try Self.report(by: verifier, on: source, isQuiet: quiet)
            let hasCosigner = source.audit?.checkpoints.cosigner != nil
            return VerificationResult(
                database: source.path, report: report, verifiers: verifiers, collections: collections,
                cosigner: hasCosigner ? AuditComposition.cosigner(of: report.origin) : nil)
        }

        static func report(
            by verifier: AuditVerifier, on source: AuditSource, isQuiet: Bool
        ) throws(AuditStoreError) -> AuditReport {
            // A progress bar on standard error, only if that is a terminal.
            guard !isQuiet, isatty(STDERR_FILENO) == 1 else { return try verifier.verify(source.reader) }
            var shown = -1
            defer { Self.tell("\r\u{1B}[K") }
            return try verifier.verify(source.reader) { done, total in
                let percent = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 100
                guard percent != shown else { return }
                shown = percent
                let bar = String(repeating: "=", count: percent * 30 / 100)
                let rest = String(repeating: " ", count: 30 - bar.count)
                Self.tell("\r[\(bar)\(rest)] \(percent) %, \(done) of \(total) entries")
            }
        }

        /// An error of the terminal does not matter here.
        private static func tell(_ text: String) { _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO) }
    }
}

/// The output of `privyseal audit verify`.
struct VerificationResult {
    /// The path of the database; nil for a log on a server.
    let database: String?
    let report: AuditReport
    let verifiers: [NoteVerifier]
    let collections: [CheckpointCollection]
    /// The name of the configured cosigner's key; nil without one.
    let cosigner: String?

    /// There is no fault, and every given file was read completely.
    var isIntact: Bool { report.isIntact && damaged.isEmpty }

    /// The unreadable parts of the given files: the decisive checkpoint may be among them.
    private var damaged: [String] { unreadable(isGiven: true) }

    private func unreadable(isGiven: Bool) -> [String] {
        collections.filter { $0.damaged > 0 && $0.isGiven == isGiven }.map { file in
            "\(file.damaged) piece\(file.damaged == 1 ? "" : "s") of \(file.path) cannot be read as checkpoints: a writer was "
                + "stopped in the middle of one, or the file was changed. Compare it with another copy, and remove "
                + "what is not one."
        }
    }

    /// Why the result proves less than it could; nil if it does not.
    private var lack: String? {
        if report.externalChecked == 0 {
            return "No checkpoint from another place was compared: without one, an older copy of the whole log cannot "
                + "be distinguished from a newer one."
        }
        if collections.allSatisfy(\.isInDatabase) {
            return "The only compared checkpoints are in the same database, so an older copy of all logs cannot be "
                + "distinguished from newer ones. Give checkpoints from another place with --checkpoints."
        }
        guard collections.allSatisfy({ !$0.isGiven && (database.map($0.isBeside) ?? false) }) else { return nil }
        return "The only compared checkpoints are stored next to the log, so an attacker can change both together. "
            + "Make the gateway store them in another place (audit.checkpoints), and give those with --checkpoints."
    }

    // MARK: Text

    var text: String { ([verdict] + checked.map { "  " + $0 } + faults + cautions).joined(separator: "\n") }

    private var verdict: String {
        let count = report.faultCount + damaged.count
        return PlainText.of(report.origin)
            + (isIntact ? ": intact" : ": \(count) \(count == 1 ? "thing is" : "things are") wrong")
    }

    private var checked: [String] {
        var lines = ["\(report.size) entries" + (report.root.map { ", root \(Hexadecimal.encode($0.bytes))" } ?? "")]
        if report.archived > 0 {
            lines.append("\(report.archived) of them archived; \(report.archivedChecked) were read from the archive")
        }
        lines.append("\(Self.checkpoints(report.keptChecked)) in the log, the newest among them, compared")
        lines += collections.map { "\(Self.checkpoints($0.checkpoints.count)) from \($0.path)" }
        if given > 0 { lines.append("\(report.externalChecked) of these \(given) compared with the entries") }
        if let cosigned = report.cosigned, cosigned > 0 {
            lines.append(
                "a cosigner's signature covers the first \(cosigned) entries; the other \(max(0, report.size - cosigned)) rest "
                    + "on the log's key alone")
        }
        if let witnessed = report.witnessed {
            lines.append(
                "enough witnesses cosigned the first \(witnessed.size) entries at \(witnessed.time.text) or later; the "
                    + "other \(max(0, report.size - witnessed.size)) rest on the log's key alone"
            )
        }
        if report.uncheckable > 0 {
            lines.append(
                "\(Self.checkpoints(report.uncheckable)) inside archived segments not compared; --archive DIR makes it possible"
            )
        }
        return lines + verifiers.map { "key \($0)" }
    }

    private static func checkpoints(_ count: Int) -> String { "\(count) checkpoint\(count == 1 ? "" : "s")" }

    private var faults: [String] {
        let rest = report.faultCount - report.faults.count
        return report.faults.enumerated().map { "\($0.offset + 1). " + PlainText.of($0.element.description) }
            + (rest > 0 ? ["… and \(rest) more"] : [])
            + damaged.enumerated().map { "\(report.faultCount + $0.offset + 1). " + $0.element }
    }

    private var cautions: [String] {
        // A full disk can leave a partial note in the gateway's own file, so this is a caution only.
        (report.proof.map { [$0] } ?? []) + unreadable(isGiven: false)
            + [foreignKeys, unchecked, lack].compactMap(\.self)
    }

    private var foreignKeys: String? {
        let origin = report.origin
        guard report.size > 0, !verifiers.contains(where: { $0.name.utf8.elementsEqual(origin.utf8) }) else {
            return nil
        }
        return
            "None of the given keys has the name of this log, so they are of other logs. Give its own key: the file .key.pub "
            + "beside its private key, which privyseal audit keys prints, too."
    }

    /// A cosigner's signatures are verified only if its key is given.
    private var unchecked: String? {
        guard let cosigner, !verifiers.contains(where: { $0.name == cosigner }) else { return nil }
        return "The configuration has a cosigner, but its key was not given, so its signatures were not checked: "
            + "privyseal audit keys prints it."
    }

    private var given: Int { collections.reduce(0) { $0 + $1.checkpoints.count } }

    // MARK: JSON

    var document: JSONMembers {
        let checkpoints: JSONMembers = [
            "keptChecked": report.keptChecked, "given": given, "givenChecked": report.externalChecked,
            "uncheckable": report.uncheckable, "cosigned": report.cosigned,
            "witnessed": report.witnessed?.size, "witnessedAt": report.witnessed?.time,
        ]
        let faults = report.faults.map { fault -> JSONMembers in
            ["from": fault.entries?.lowerBound, "to": fault.entries?.upperBound, "message": fault.description]
        }
        return [
            "origin": report.origin,
            "intact": isIntact,
            "size": report.size,
            "root": report.root.map { Hexadecimal.encode($0.bytes) },
            "archived": report.archived,
            "archivedChecked": report.archivedChecked,
            "checkpoints": checkpoints,
            "keys": verifiers.map(\.text),
            "faultCount": report.faultCount + damaged.count,
            "faults": faults + damaged.map { ["message": $0] },
            "unproved": report.unproved.map { ["from": $0.lowerBound, "to": $0.upperBound] as JSONMembers },
            "caution": cautions.isEmpty ? nil : cautions.joined(separator: " "),
        ]
    }
}
