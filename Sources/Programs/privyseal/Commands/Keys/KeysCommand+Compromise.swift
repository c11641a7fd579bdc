import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Compromise: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compromise",
            abstract: "Declare a key compromised; from the next request on, it signs nothing.",
            discussion: """
                  privyseal keys compromise 2X9R4HXF34 --reason "Laptop with the .p8 stolen" \\
                    --config gateway.yaml

                This needs no second administrator, because stopping a key must be quick. Revoke the key in App Store \
                Connect, import a new one, and activate it: the gateway cannot prevent signatures with a stolen copy \
                of the key.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(key) is stopped at once, and counts as compromised.")
            try await change.make(KeyChangeOrder(.compromise, key, reason: change.reason))
        }
    }
}
