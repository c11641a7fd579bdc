import ArgumentParser
import AuditKit
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

extension KeysCommand {
    struct Proposals: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "proposals",
            abstract: "List the proposals that another administrator must approve.",
            discussion: "A proposal without an approval expires after accounts[].proposalLifetime.")

        @OptionGroup var target: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let proposals = try await target.lifecycleClient().overview().proposals
            output.show(["proposals": proposals], text: text(proposals))
        }

        private func text(_ proposals: [KeyProposal]) -> String {
            guard !proposals.isEmpty else { return "There are no proposals." }
            return proposals.map(\.text).joined(separator: "\n\n")
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve",
            abstract: "Approve the proposal of another administrator.",
            discussion: """
                  privyseal keys proposals --config gateway.yaml
                  privyseal keys approve k7mxq2pd --digest sha256:… \\
                    --admin https://127.0.0.1:8443 --token-file mine.token

                privyseal keys proposals shows each proposal in full, with its digest. The approval is valid for that \
                digest only.

                The proposer cannot approve: two administrators are two clients that have no token, certificate or uid \
                in common. Root and the gateway's own user on the admin socket are one administrator, called operator.

                The approval carries out an activation or a restoration at once. For an import, a generation or a \
                destruction, the proposer runs the same command again; the approver cannot.
                """)

        @Argument(help: ArgumentHelp("The proposal's ID, as privyseal keys proposals shows it.", valueName: "proposal"))
        var proposal: String

        @Option(help: ArgumentHelp("The digest of the proposal, as shown with it.", valueName: "sha256:…"))
        var digest: String

        @OptionGroup var target: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let answer = try await target.lifecycleClient().approve(proposal, digest: digest)
            output.show(answer, text: KeyAnswerText(gatewayOption: target.gatewayOption).text(answer))
        }
    }

    struct Reject: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reject",
            abstract: "Reject a proposal, or withdraw your own.",
            discussion: "  privyseal keys reject k7mxq2pd --config gateway.yaml")

        @Argument(help: ArgumentHelp("The proposal's ID, as privyseal keys proposals shows it.", valueName: "proposal"))
        var proposal: String

        @OptionGroup var target: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try await target.lifecycleClient().reject(proposal)
            output.show(
                ["outcome": "rejected", "proposal": proposal] as JSONMembers,
                text: "The proposal \(proposal) is rejected, and this is recorded. Nothing has changed.")
        }
    }
}

extension KeyProposal {
    /// For the administrator who decides.
    fileprivate var text: String {
        let facts: [(String, String?)] =
            [
                ("proposal", id), ("what", KeyWarnings.words(of: self)), ("account", issuerID),
                ("key", keyID),
            ] + details.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + [
                ("reason", reason), ("proposed by", proposer), ("at", proposed.text),
                ("expires", expires.text), ("approved by", approver), ("digest", digest),
            ]
        return FactList.text(facts, width: 13) + "\n" + next
    }

    private var next: String {
        let id = PlainText.of(id)
        guard approver == nil else { return "Next: the proposer runs the same command again." }
        return "Next: privyseal keys approve \(id) --digest \(digest), or privyseal keys reject \(id)"
    }
}

/// Names and values, one pair in each line.
enum FactList {
    /// - Parameters:
    ///   - facts: those without a value are left out.
    ///   - width: of the column of names.
    static func text(_ facts: [(String, String?)], width: Int) -> String {
        facts.compactMap { name, value in
            value.map {
                PlainText.of(name) + String(repeating: " ", count: max(1, width - name.count)) + PlainText.of($0)
            }
        }.joined(separator: "\n")
    }
}
