import ArgumentParser
import GatewayConfiguration
import Signing

struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "Make tokens for clients.",
        subcommands: [Mint.self])

    struct Mint: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mint",
            abstract: "Make a bearer token, and show it once.",
            discussion: """
                  (umask 077; privyseal clients mint shop > shop.token)

                Only the token goes to standard output. The entry for the configuration goes to standard error: the token's \
                SHA-256, from which the token cannot be computed. Nothing is stored. A client may have several tokens, so that one can replace \
                another without interruption.
                """)

        @Argument(help: ArgumentHelp("The client's name in the configuration.", valueName: "name"))
        var name: String

        func validate() throws {
            if let complaint = ClientSettings.complaint(name: name) {
                throw ValidationError("The client's name \(complaint).")
            }
        }

        func run() throws {
            let token = ClientToken.mint()
            StandardError.print(
                """
                The token of \(name) is shown once; give it to \(name) in a file or a secret store, not in a message.
                Add this to the configuration, under clients:

                  - name: \(name)
                    tokens:
                      - sha256: "\(token.digest)"
                    allow:
                      - apps: [com.example.app]
                        features: [promotional-offer]
                        products: ["*"]
                        offers: ["*"]

                """)
            print(token.text)
        }
    }
}
