import ArgumentParser
import AuditKit
import ComplianceReport
import SigningKit
import StrictJSON
import TransparencyLog

extension ComplianceCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a report's signature, the checkpoint that it is anchored to, and its page.",
            discussion: """
                  privyseal compliance verify compliance-….json --key audit.db.key.pub \\
                    --page compliance-….html

                With --database, the command also verifies the log and compares it with the report's checkpoint: the \
                report then describes this log, which is unchanged since. A report with failed checks verifies like \
                any other.
                """)

        @Argument(help: ArgumentHelp("The report's JSON; - is standard input.", valueName: "file"), completion: .file())
        var file: String

        @OptionGroup var keys: AuditKeyOption

        @Option(help: ArgumentHelp("The report's page.", valueName: "file"), completion: .file(extensions: ["html"]))
        var page: String?

        @Option(
            help: ArgumentHelp("The audit log's database, or a copy of it: a path or a URL.", valueName: "path"),
            completion: .file(extensions: ["db"]))
        var database: String?

        @OptionGroup var output: OutputOption

        func run() throws {
            let verifiers = try keys.verifiers(for: nil)
            let limit = InputFile.Limit.report
            let (bytes, pageBytes) = try StandardError.attempt(64) {
                (
                    try InputFile.contents(ofArgument: file, limit: limit),
                    try page.map { try InputFile.contents(of: $0, limit: limit) }
                )
            }
            do throws(SignedReportError) {
                let verified = try SignedReport(parsing: bytes).verify(with: verifiers, page: pageBytes)
                try compare(verified, verifiers)
                output.show(document(verified), text: text(verified))
            } catch {
                if output.format == .json {
                    print(JSONText.string(["valid": false, "reason": "\(error)"] as JSONMembers))
                }
                throw error
            }
        }

        private func compare(_ report: VerifiedReport, _ verifiers: [NoteVerifier]) throws(SignedReportError) {
            guard let database else { return }
            guard let anchor = report.anchor else { throw .wrongAnchor("It has none.") }
            let found: AuditReport
            do {
                let reader = try AuditLocation(database).read()
                defer { reader.close() }
                let external = ExternalCheckpoints([try SignedNote(parsing: anchor.note)])
                found = try AuditVerifier(verifiers, externals: [external], faultLimit: 1).verify(reader)
            } catch {
                throw .wrongAnchor("The log \(database) cannot be read. \(error)")
            }
            if let fault = found.faults.first { throw .wrongAnchor("The log: \(fault)") }
            guard found.externalChecked == 1 else { throw .wrongAnchor("The log has no place to compare it with.") }
        }

        // MARK: Answers

        private func text(_ report: VerifiedReport) -> String {
            var lines = [
                "valid: report \(report.id) of \(report.made.text), signed by "
                    + report.signers.joined(separator: ", ") + ".",
                "Its verdict: \(report.verdict.result.rawValue), \(report.verdict.failed) failed, "
                    + "\(report.verdict.unavailable) unavailable.",
            ]
            if let anchor = report.anchor {
                lines.append(
                    "Anchored to the checkpoint over \(anchor.size) entries of \(anchor.origin)"
                        + (database == nil
                            ? "; with --database, the log is compared too." : ", which this log agrees with."))
            } else {
                lines.append("Not anchored to a checkpoint.")
            }
            return lines.map(PlainText.of).joined(separator: "\n")
        }

        private func document(_ report: VerifiedReport) -> JSONMembers {
            [
                "valid": true, "id": report.id, "made": report.made, "result": report.verdict.result,
                "failed": report.verdict.failed,
                "unavailable": report.verdict.unavailable, "signers": report.signers, "origin": report.anchor?.origin,
                "size": report.anchor?.size, "comparedWithLog": report.anchor.map { _ in database != nil },
            ]
        }
    }
}
