import ArgumentParser
import ComplianceReport
import Encodings
import GatewayConfiguration
import SigningKit
import TransparencyLog

extension ComplianceCommand {
    struct Report: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "report",
            abstract: "Check every key, record and listener, and report the result of each check.",
            discussion: """
                The command opens each token once, with one login. Each key signs a proof, and its token must refuse \
                to export the key. States come from the running gateway, or from the register itself if no gateway \
                runs.

                The report is signed by the audit log's key and anchored to the log's newest checkpoint.

                EXIT STATUS
                  0   no check failed; some may be unavailable, and the report says which
                  1   a check failed, or there is no report
                  64  the command line is wrong
                  78  the configuration is wrong
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case text, json, html
        }

        @OptionGroup var admin: AdminOption

        @Option(
            help: ArgumentHelp(
                "Write the report to this directory, as JSON and as HTML, and print a summary.",
                valueName: "directory"),
            completion: .directory)
        var out: String?

        @Option(help: "The output format.")
        var format = Format.text

        @Flag(help: "Accept keys in software, as for a staging account. The report says so.")
        var acceptSoftware = false

        @Flag(help: "Do not verify the audit log, which is slow for a long log. The check is then unavailable.")
        var noLogVerification = false

        @Flag(help: "Make an unsigned report, for example if the audit log's key cannot be read.")
        var unsigned = false

        func run() async throws {
            guard let path = admin.configuration else {
                throw StandardError.failure(
                    "Give the gateway's configuration with --config FILE.",
                    status: ExitCode.validationFailure.rawValue)
            }
            let configuration = try ConfigurationOption.load(path)
            LogSetup.bootstrapQuietly()
            let signer = try signer(configuration)
            let survey = ComplianceSurvey(
                configuration: configuration, path: path, acceptsSoftware: acceptSoftware,
                verifiesLog: !noLogVerification)
            let findings = await survey.findings(
                { try await admin.lifecycleClient(configuration).overview() },
                signers: { try await admin.signers(configuration) })
            let now = Timestamp.now()
            let report = findings.report(id: Self.id(at: now), at: now)
            let (sealed, page) = try SignedReport.make(report, signer: signer)
            let files = out.map { ComplianceFiles(id: report.id, in: $0) }
            try files?.write(sealed.bytes, page: page)
            // Before anything is printed: a lost standard output ends the process.
            await ReportRecording.record(
                "compliance", id: report.id, bytes: sealed.bytes, hasPassed: report.tally.failed == 0, in: configuration
            )
            show(report, sealed, page, files)
            if report.tally.failed > 0 { throw ExitCode.failure }
        }

        /// Nil for a report without a signature.
        private func signer(_ configuration: GatewayConfiguration) throws -> NoteSigner? {
            guard let audit = configuration.audit, !unsigned else { return nil }
            do throws(CommandError) { return try AuditKeyFile(audit.key.path).read() } catch {
                throw StandardError.failure(
                    "\(error) Without it the report is not signed; --unsigned makes an unsigned report.")
            }
        }

        private func show(
            _ report: ComplianceReport, _ sealed: SignedReport, _ page: String, _ files: ComplianceFiles?
        ) {
            switch format {
            case .text: print(files.map { "\(report.text)\n\($0.json)\n\($0.html)" } ?? report.text)
            case .json: print(String(decoding: sealed.bytes, as: UTF8.self), terminator: "")
            case .html: print(page, terminator: "")
            }
            if sealed.seal == nil { StandardError.print("warning: the report is not signed") }
        }

        /// The time to the second, and 32 random bits.
        private static func id(at time: Timestamp) -> String {
            let random = withUnsafeBytes(of: UInt32.random(in: .min ... .max), Array.init)
            return "\(time.text.filter { $0 != "-" && $0 != ":" }.prefix(15))Z-\(Hexadecimal.encode(random))"
        }
    }
}
