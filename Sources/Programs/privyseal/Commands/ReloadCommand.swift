import ArgumentParser
import NIOHTTP1
import StrictJSON

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make a running gateway reload its configuration.",
        discussion: """
            The gateway reads, checks and opens the new configuration before it replaces the old one. If it cannot \
            serve the new one, nothing changes. Requests in flight finish with the old one.
            The exit status is 0 if the gateway applied the configuration, 1 if it refused it or did not answer.
            """)

    @OptionGroup var admin: AdminOption
    @OptionGroup var output: OutputOption

    @Flag(name: .customLong("dry-run"), help: "Only show what would change.")
    var isTrial = false

    func run() async throws {
        let answer = try await admin.ask(.POST, isTrial ? "/v1/reload?dryRun=true" : "/v1/reload", accept: nil)
        if output.format == .json {
            print(answer)
            return
        }
        let result = try JSONDocument(parsing: Array(answer.utf8)).root.decode(Answer.self)
        let changes = result.changes
        switch result.outcome {
        case "unchanged": print("Reloaded; nothing has changed.")
        case "would-apply" where changes.isEmpty: print("Nothing would change.")
        case "would-apply": print("This would change:\n" + list(changes))
        default: print("Applied:\n" + list(changes))
        }
    }

    private func list(_ changes: [String]) -> String { changes.map { "  \($0)" }.joined(separator: "\n") }

    private struct Answer: Decodable {
        let outcome: String
        let changes: [String]
    }
}
