import ArgumentParser
import GatewayConfiguration
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct Keys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys",
            abstract: "Print the public keys that the log's checkpoints are verified with.",
            discussion: """
                  privyseal audit keys --config gateway.yaml > shop.vkey

                Each line is a verifier key (vkey, C2SP signed-note). Give the file to auditors before they need it, over \
                another way than the log itself. A cosigner's key is on its token: --open-cosigner opens it with the \
                configured PIN and prints its public key too.
                """)

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var output: OutputOption

        @Flag(help: "Open the cosigner's key to print its public key too.")
        var openCosigner = false

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let configuration = try config.load()
            guard let audit = configuration.audit else {
                throw StandardError.failure(
                    "\(config.path) has no audit section: this gateway keeps no log.", status: 78)
            }
            let path = AuditKeyFile(audit.key.path).publicPath
            let own = try AuditAttempt.run { () throws(AuditSetupError) in try VerifierFile(path).verifiers() }
            var cosigners: [NoteVerifier] = []
            let composition = AuditComposition(audit, of: configuration)
            if let origin = own.first?.name, let cosigner = composition.cosigner(of: origin) {
                if openCosigner {
                    cosigners.append(try await open(cosigner))
                } else {
                    StandardError.print(
                        "privyseal: The cosigner \(origin)/cosigner is not printed: its key must be opened for that. Run this "
                            + "with --open-cosigner as the gateway's user.")
                }
            }
            print(output.format == .json ? json(own, cosigners) : (own + cosigners).map(\.text).joined(separator: "\n"))
        }

        private func open(_ cosigner: KeyCosigner) async throws -> NoteVerifier {
            do {
                let verifier = try await cosigner.verifier()
                await cosigner.close()
                return verifier
            } catch {
                await cosigner.close()
                throw StandardError.failure("The cosigner's key cannot be opened. \(error)")
            }
        }

        private func json(_ own: [NoteVerifier], _ cosigners: [NoteVerifier]) -> String {
            var writer = JSONWriter()
            writer.object { writer in
                writer.name("keys")
                writer.array { writer in
                    for (verifier, role) in own.map({ ($0, "log") }) + cosigners.map({ ($0, "cosigner") }) {
                        writer.object { writer in
                            writer.member("name", verifier.name)
                            writer.member("role", role)
                            writer.member("key", verifier.text)
                        }
                    }
                }
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
