import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Undo privyseal keys compromise, for a false alarm.",
            discussion: """
                  privyseal keys restore 2X9R4HXF34 --reason "The laptop was found, sealed" \\
                    --config gateway.yaml

                The key becomes suspended. If it is then resumed, it is staged: it signs nothing until it is \
                activated, with a fresh proof of possession. A key that was retired or destroyed before it was \
                compromised permanently returns to that state. If the account requires two administrators, another one \
                must approve.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var change: KeyChangeOption

        func run() async throws {
            try await change.make(KeyChangeOrder(.restore, key, reason: change.reason))
        }
    }
}
