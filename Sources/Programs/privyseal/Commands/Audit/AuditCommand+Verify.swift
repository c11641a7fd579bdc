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
        private static func tell(_ text: String) { _ = DurableWrite.write(Array(text.utf8), to: STDERR_FILENO) }
    }
}
