import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Proposals: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "proposals",
            abstract: "List the proposals that another administrator must approve.",
            discussion: "A proposal without an approval expires after accounts[].proposalLifetime.")

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let proposals = try await target.lifecycleClient().overview().proposals
            output.show(["proposals": proposals], text: text(proposals))
        }

        private func text(_ proposals: [KeyProposal]) -> String {
            guard !proposals.isEmpty else { return "There are no proposals." }
            return proposals.map(KeyProposalText.init).map(\.text).joined(separator: "\n\n")
        }
    }
}
