import ArgumentParser
import AuditKit
import GatewayConfiguration
import TransparencyLog

extension AuditCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Tell whether an entry was changed, removed, moved, added or put back, and which.",
            discussion: """
                Reads every entry, computes the tree, and compares it with each checkpoint in the log and with those that \
                were kept elsewhere. Nothing but public keys is needed, and nothing is written: it works on a copy, on \
                another machine, and beside a running gateway.

                  privyseal audit verify --config gateway.yaml
                  privyseal audit verify --database copy.db --key audit.db.key.pub \\
                    --checkpoints from-witness

                With a cosigner's key besides the log's, the newest checkpoint has to bear the cosigner's signature, too.

                An older copy of the whole log is right in itself. Only a checkpoint that was kept elsewhere tells it from \
                the newer one.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var checkpoints: AuditCheckpointOption
        @OptionGroup var archive: AuditArchiveOption
        @OptionGroup var output: OutputOption

        @Flag(help: "No progress bar.")
        var quiet = false

        func run() throws {
            let source = try log.open()
            let verifiers = try keys.verifiers(for: source)
            let collections = try checkpoints.collections(for: source)
            let verifier = AuditVerifier(verifiers, externals: collections.map(\.checkpoints), archive: archive.bodies)
            let progress = ProgressBar(isShown: !quiet)
            let report = try AuditAttempt.run { () throws(AuditStoreError) in
                defer { progress.end() }
                return try verifier.verify(source.reader) { done, total in progress.show(done, of: total) }
            }
            let hasCosigner = source.settings?.audit.checkpoints.cosigner != nil
            let result = VerificationResult(
                database: source.path, report: report, verifiers: verifiers, collections: collections,
                cosigner: hasCosigner ? AuditComposition.cosigner(of: report.origin) : nil)
            switch output.format {
            case .text: try AuditOutput.print(result.text)
            case .json: try AuditOutput.print(result.json)
            }
            if !result.isIntact { throw ExitCode.failure }
        }
    }
}
