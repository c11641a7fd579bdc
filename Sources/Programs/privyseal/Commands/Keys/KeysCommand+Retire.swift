import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retire",
            abstract: "Retire a key permanently; it signs nothing from then on.",
            discussion: """
                  privyseal keys retire 2X9R4HXF34 --reason "Unused" --config gateway.yaml

                The key must be staged, retiring, suspended or compromised. To retire the active key, activate another \
                one: privyseal keys activate NEW --retire OLD. A retiring key is retired automatically at the end of \
                its overlap.

                A retired key is never used again.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(key) is retired permanently, and signs nothing from then on.")
            try await change.make(KeyChangeOrder(.retire, key, reason: change.reason))
        }
    }
}
