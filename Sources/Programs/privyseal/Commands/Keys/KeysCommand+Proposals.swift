import ArgumentParser
import SigningGateway
import StrictJSON

extension KeysCommand {
    struct Proposals: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "proposals",
            abstract: "List the proposals that another administrator must approve.",
            discussion: "A proposal without an approval expires after accounts[].proposalLifetime.")

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let overview = try await target.lifecycleClient().overview()
            print(output.format == .json ? json(overview.proposals) : text(overview.proposals))
        }

        private func text(_ proposals: [KeyProposal]) -> String {
            guard !proposals.isEmpty else { return "There are no proposals." }
            return proposals.map(KeyProposalText.init).map(\.text).joined(separator: "\n\n")
        }

        private func json(_ proposals: [KeyProposal]) -> String {
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("proposals")
                writer.array { writer in for proposal in proposals { proposal.write(to: &writer) } }
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
