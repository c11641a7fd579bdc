import ArgumentParser
import NIOHTTP1

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a running gateway: listeners, keys, tokens, clients, the last warnings.",
        discussion: "The command asks the gateway over its admin listener.")

    @OptionGroup var admin: AdminOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        try await admin.show(.GET, "/v1/status", output)
    }
}
