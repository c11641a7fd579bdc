import ArgumentParser
import NIOHTTP1

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how a running gateway fares: listeners, keys, tokens, clients, the last warnings.",
        discussion: "The gateway is asked over its admin listener.")

    @OptionGroup var admin: AdminOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        print(
            try await admin.ask(
                .GET, "/v1/status", accept: output.format == .text ? "text/plain" : "application/json"))
    }
}
