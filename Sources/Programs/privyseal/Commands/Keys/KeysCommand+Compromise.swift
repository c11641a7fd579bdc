import ArgumentParser
import SigningGateway

extension KeysCommand {
    struct Compromise: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compromise",
            abstract: "Say that somebody else may have a key; the next request already gets nothing of it.",
            discussion: """
                  privyseal keys compromise 2X9R4HXF34 --reason "Laptop with the .p8 stolen" \\
                    --config gateway.yaml

                No second administrator is wanted, because stopping a key must be quick. Revoke the key in App Store Connect, bring a \
                new one in, and activate that: the gateway cannot take back what others sign with a key that they have.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(key) is stopped at once, and counts as known to others.")
            try await change.make(KeyChangeOrder(.compromise, key, reason: change.reason))
        }
    }
}
