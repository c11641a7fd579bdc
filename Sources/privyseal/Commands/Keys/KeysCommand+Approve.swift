import ArgumentParser
import SigningGateway
import StrictJSON

extension KeysCommand {
    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve",
            abstract: "Agree, as the second administrator, to what another one has proposed.",
            discussion: """
                  privyseal keys proposals --config gateway.yaml
                  privyseal keys approve k7mxq2pd --admin https://127.0.0.1:8443 --token-file mine.token

                Who proposed it cannot approve it: two persons are two clients. Root and the gateway's own user on the \
                admin socket are one administrator together, called operator.

                An activation and a restoration are done at once. Of an import, a generation and a destruction, who \
                proposed it runs the same command again.
                """)

        @Argument(help: ArgumentHelp("The proposal's ID, as privyseal keys proposals shows it.", valueName: "proposal"))
        var proposal: String

        @OptionGroup var place: KeyDeskOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let answer = try await place.ask { desk in try await desk.approve(proposal) }
            switch output.format {
            case .json: print(String(decoding: answer.jsonBytes(capacity: 2048), as: UTF8.self))
            case .text: print(KeyAnswerText(where: place.whereabouts).text(answer))
            }
        }
    }
}
