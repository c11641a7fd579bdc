import ArgumentParser

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for a service of Apple, or compare the clock with Apple's.",
        discussion: """
            make is the default:

              privyseal token connect --config gateway.yaml "scopes=GET /v1/apps"
              privyseal token check --date "Sun, 22 Nov 2026 10:00:00 GMT"

            privyseal help token make shows the services and what a request may choose. privyseal tokens list shows the \
            tokens that are valid for a day or longer.
            """,
        subcommands: [Make.self, Check.self], defaultSubcommand: Make.self)
}

struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens", abstract: "Show the long-lived tokens for services of Apple.", subcommands: [List.self])
}
