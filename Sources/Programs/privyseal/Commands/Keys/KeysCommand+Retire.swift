import ArgumentParser
import SigningGateway

extension KeysCommand {
    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retire",
            abstract: "Have a key sign nothing any more, for good.",
            discussion: """
                  privyseal keys retire 2X9R4HXF34 --reason "Unused" --config gateway.yaml

                For a key that is staged, retiring, suspended or compromised. The active key is retired by activating another one: \
                privyseal keys activate NEW --retire OLD. A retiring key retires by itself when its time is over.

                A retired key is never used again.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(key) is retired for good, and signs nothing from then on.")
            try await change.make(KeyChangeOrder(.retire, key, reason: change.reason))
        }
    }
}
