import ArgumentParser
import AuditKit
import GatewayConfiguration
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct ShowCheckpoint: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "checkpoint",
            abstract: "Print the newest signed checkpoint, to store it in another place.",
            discussion: """
                  privyseal audit checkpoint --config gateway.yaml > checkpoint-$(date +%F)

                A checkpoint is a signed note: the log's name, how many entries it has, the root of the tree over \
                them, and signatures (C2SP tlog-checkpoint). --all prints the checkpoints in the log by size, each \
                followed by an empty line, as --checkpoints reads them.
                """)

        @OptionGroup var log: AuditLogOption

        @Flag(help: "Print all checkpoints in the log, and the newest.")
        var all = false

        func run() throws {
            let reader = try log.open().reader
            guard let head = try reader.head() else {
                throw CommandError("The log holds no entries, and so no checkpoint.")
            }
            var heads = [head]
            if all {
                // A kept checkpoint may have a cosigner's signature; the head never has one.
                let kept = try reader.checkpoints()
                heads = kept.filter { $0.size < head.size } + [kept.last { $0.size == head.size } ?? head]
            }
            let output = AuditOutput.standard
            for head in heads { output.write(try note(head) + (all ? "\n" : "").utf8) }
            try output.finish()
        }

        /// The checkpoint as stored. Bytes that are not a checkpoint are not printed to a terminal.
        private func note(_ head: SignedTreeHead) throws -> [UInt8] {
            do { return Array(try SignedNote(parsing: head.note).description.utf8) } catch {
                throw CommandError(
                    "The checkpoint over \(head.size) entries is invalid: \(error) Run privyseal audit verify.")
            }
        }
    }

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
            let audit = try AuditLogOption.audit(of: configuration, config.path)
            var verifiers = try AuditKeyFile(audit.key.path).publicKeys()
            let origin = verifiers.first?.name ?? ""
            if let cosigner = AuditComposition(audit, of: configuration).cosigner(of: origin) {
                if openCosigner {
                    let key: NoteVerifier
                    do { key = try await finally(cosigner.close) { try await cosigner.verifier() } } catch {
                        throw CommandError("The cosigner's key cannot be opened. \(error)")
                    }
                    if !verifiers.contains(where: { $0.text == key.text }) { verifiers.append(key) }
                } else if verifiers.count == 1 {
                    StandardError.print(Self.hint)
                }
            }
            try output.write(document(verifiers), text: verifiers.map(\.text).joined(separator: "\n"))
        }

        private static let hint =
            "privyseal: There is a cosigner, too. Its key must be opened to print its public key: run this with "
            + "--open-cosigner as the gateway's user."

        private func document(_ verifiers: [NoteVerifier]) -> JSONMembers {
            let keys = verifiers.map { verifier -> JSONMembers in
                let role = verifier.name == verifiers.first?.name ? "log" : "cosigner"
                return ["name": verifier.name, "role": role, "key": verifier.text]
            }
            return ["keys": keys]
        }
    }
}
