import ArgumentParser
import StrictJSON

extension KeysCommand {
    struct Reject: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reject",
            abstract: "Reject a proposal, or withdraw your own.",
            discussion: "  privyseal keys reject k7mxq2pd --config gateway.yaml")

        @Argument(help: ArgumentHelp("The proposal's ID, as privyseal keys proposals shows it.", valueName: "proposal"))
        var proposal: String

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try await target.lifecycleClient().reject(proposal)
            output.show(
                ["outcome": "rejected", "proposal": proposal] as JSONMembers,
                text: "The proposal \(proposal) is rejected, and this is recorded. Nothing has changed.")
        }
    }
}
