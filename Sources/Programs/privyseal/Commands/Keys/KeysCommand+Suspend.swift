import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend",
            abstract: "Stop a key temporarily; from the next request on, it signs nothing.",
            discussion: """
                  privyseal keys suspend 2X9R4HXF34 --reason "Odd" --config gateway.yaml

                The command asks for no confirmation and needs no second administrator, because stopping a key must be \
                quick. If the key is active, requests that name no key are refused until privyseal keys resume \
                reactivates it or another key is activated.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption

        func run() async throws {
            try await change.make(KeyChangeOrder(.suspend, key, reason: change.reason))
        }
    }
}
