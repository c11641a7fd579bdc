import ArgumentParser
import Signing

extension KeysCommand {
    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve",
            abstract: "Approve the proposal of another administrator.",
            discussion: """
                  privyseal keys proposals --config gateway.yaml
                  privyseal keys approve k7mxq2pd --digest sha256:… --admin https://127.0.0.1:8443 --token-file mine.token

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

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let answer = try await target.lifecycleClient().approve(proposal, digest: digest)
            output.show(answer, text: KeyAnswerText(where: target.gatewayOption).text(answer))
        }
    }
}
