import ArgumentParser
import AuditKit
import GatewayConfiguration
import Glibc
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

                If a cosigner's key is given too, the newest checkpoint must also have the cosigner's signature.

                An older copy of the whole log is consistent in itself. Only a checkpoint from another place \
                distinguishes it from the newer one.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var checkpoints: AuditCheckpointOption
        @OptionGroup var archive: AuditArchiveOption
        @OptionGroup var output: OutputOption

        @Flag(help: "Show no progress bar.")
        var quiet = false

        func run() throws {
            let source = try log.open()
            let verifiers = try keys.verifiers(for: source)
            let collections = try checkpoints.collections(for: source)
            let verifier = AuditVerifier(verifiers, externals: collections.map(\.checkpoints), archive: archive.bodies)
            let report = try Self.report(by: verifier, on: source, isQuiet: quiet)
            let hasCosigner = source.audit?.checkpoints.cosigner != nil
            let result = VerificationResult(
                database: source.path, report: report, verifiers: verifiers, collections: collections,
                cosigner: hasCosigner ? AuditComposition.cosigner(of: report.origin) : nil)
            try output.write(result.document, text: result.text)
            if !result.isIntact { throw ExitCode.failure }
        }

        static func report(
            by verifier: AuditVerifier, on source: AuditSource, isQuiet: Bool
        ) throws(AuditStoreError) -> AuditReport {
            let progress = ProgressBar(isShown: !isQuiet)
            defer { progress.end() }
            return try verifier.verify(source.reader) { done, total in progress.show(done, of: total) }
        }
    }
}

/// A progress bar on standard error, only if that is a terminal.
private final class ProgressBar {
    private let isShown: Bool
    private var last = -1

    private static let width = 30

    init(isShown: Bool) {
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    func show(_ done: Int, of total: Int) {
        let percent = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 100
        guard isShown, percent != last else { return }
        last = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: Self.width - filled)
        write("\r[\(bar)] \(percent) %, \(done) of \(total) entries")
    }

    func end() {
        guard last >= 0 else { return }
        last = -1
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        // A write error does not matter here.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
