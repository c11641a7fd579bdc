import ArgumentParser
import Encodings
import NIOHTTP1
import StrictJSON

struct SignersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signers",
        abstract: "Show and replace the processes that hold the keys of a running gateway.",
        subcommands: [List.self, Restart.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Show each signer process, with its protection.",
            discussion: """
                A signer is a process that loads a module or key files, reads the PIN and signs. The gateway itself holds \
                no key. The command asks the gateway over its admin listener.
                """)

        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try await admin.show(.GET, "/v1/signers", output)
        }
    }

    struct Restart: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restart",
            abstract: "Replace the processes of a signer while it signs.",
            discussion: """
                A new process opens the token and proves every key. Then it signs, and the old one finishes its signatures \
                and ends. Use it after an update of a module's library, or when a token's library does not see a new key. \
                If the new process cannot open every key, the old one stays, and the exit status is 1.
                """)

        @Argument(help: ArgumentHelp("The signer, as privyseal signers list shows it.", valueName: "name"))
        var name: String

        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try await admin.show(.POST, "/v1/signers/\(PercentEncoding.encode(name))/restart", output)
        }
    }
}
