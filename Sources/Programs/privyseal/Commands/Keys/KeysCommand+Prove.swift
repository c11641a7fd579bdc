import ArgumentParser
import AuditKit
import KeyLifecycle
import Signing
import SigningKit

extension KeysCommand {
    struct Prove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prove",
            abstract: "Make a key sign a fresh proof of possession, and record it.",
            discussion: """
                  privyseal keys prove 3Y8S5JYG45 --config gateway.yaml

                The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer. It is verified \
                with the public key, which must be the one in the register and the configuration. privyseal keys \
                activate does this automatically.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let record = try await target.lifecycleClient().prove(key)
            output.show(
                record,
                text: "\(PlainText.of(record.keyID)), which is \(record.state.rawValue), has signed a fresh proof of "
                    + "possession" + (record.fingerprint.map { "; its fingerprint is \($0)." } ?? "."))
        }
    }
}
