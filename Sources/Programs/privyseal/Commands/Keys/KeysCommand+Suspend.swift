import ArgumentParser
import SigningGateway

extension KeysCommand {
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend",
            abstract: "Stop a key for a while; the next request already gets nothing of it.",
            discussion: """
                  privyseal keys suspend 2X9R4HXF34 --reason "Odd" --config gateway.yaml

                Nobody is asked and no second administrator is wanted, because stopping a key must be quick. Of the active key, this \
                stops everything that names no key, until privyseal keys resume brings it back or another one is activated.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption

        func run() async throws {
            try await change.make(KeyChangeOrder(.suspend, key, reason: change.reason))
        }
    }
}
