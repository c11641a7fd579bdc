import ArgumentParser
import GatewayConfiguration
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct Keys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys",
            abstract: "Print the public keys that verify the log's checkpoints.",
            discussion: """
                  privyseal audit keys --config gateway.yaml > shop.vkey

                Each line is a verifier key (vkey, C2SP signed-note). Give the file to auditors before they need it, \
                over another channel than the log itself. A cosigner's key is on its token: --open-cosigner opens it \
                with the configured PIN and prints its public key too.
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
            let keyFile = AuditKeyFile(audit.key.path)
            var verifiers = try keyFile.publicKeys()
            let origin = verifiers.first?.name ?? ""
            if let cosigner = AuditComposition(audit, of: configuration).cosigner(of: origin) {
                if openCosigner {
                    let key = try await open(cosigner)
                    if !verifiers.contains(where: { $0.text == key.text }) { verifiers.append(key) }
                } else if verifiers.count == 1 {
                    StandardError.print(Self.hint)
                }
            }
            try AuditOutput.print(
                output.format == .json ? json(verifiers) : verifiers.map(\.text).joined(separator: "\n"))
        }

        private static let hint =
            "privyseal: There is a cosigner, too. Its key must be opened to print its public key: run this with "
            + "--open-cosigner as the gateway's user."

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

        private func json(_ verifiers: [NoteVerifier]) -> String {
            let keys = verifiers.map { verifier -> JSONMembers in
                let role = verifier.name == verifiers.first?.name ? "log" : "cosigner"
                return ["name": verifier.name, "role": role, "key": verifier.text]
            }
            return JSONText.string(["keys": keys])
        }
    }
}
