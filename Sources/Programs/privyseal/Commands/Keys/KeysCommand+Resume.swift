import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Return a suspended key to its previous state.",
            discussion: """
                  privyseal keys resume 2X9R4HXF34 --reason "All well" --config gateway.yaml

                A key that was active first signs a fresh proof of possession. It cannot become active again while \
                another key is.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption

        func run() async throws {
            try await change.make(KeyChangeOrder(.resume, key, reason: change.reason))
        }
    }
}
