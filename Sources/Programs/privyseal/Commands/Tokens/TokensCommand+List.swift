import ArgumentParser
import AuditKit
import GatewayHTTP
import SigningKit
import StrictJSON

extension TokensCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the tokens that are valid for a day or longer, until they expire.",
            discussion: """
                Such a token is often pasted into another system: a client secret for Sign in with Apple, a token for \
                MusicKit or for App Store Connect with scopes. It stays valid after a rotation: no key can take it back. \
                The audit log has an entry for each, and for each further client that got the same token; nothing holds \
                the token itself. Those that expire first come first.

                  privyseal tokens list --config gateway.yaml
                  privyseal tokens list --key 3Y8S5JYG45 --format json --config gateway.yaml
                  privyseal tokens list --all-logs --config gateway.yaml   (of a fleet)

                Revoking a key at Apple ends all of its tokens.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var all: AllLogsOption
        @OptionGroup var output: OutputOption

        @Option(help: ArgumentHelp("Only tokens of this key.", valueName: "key-id"))
        var key: String?

        func run() throws {
            let now = Timestamp.now()
            let query = LongLivedToken.query(at: now, keyID: key)
            let readers = try SearchedLogs(log, all, for: query).readers
            let found = try readers.longLivedTokens(at: now, keyID: key)
            if !found.isComplete { StandardError.print(LongLivedTokens.incomplete) }
            try output.write(found, text: text(found.tokens, at: now))
        }

        private func text(_ tokens: [LongLivedToken], at now: Timestamp) -> String {
            guard !tokens.isEmpty else {
                let which = key.map { " of the key \(PlainText.of($0))" } ?? ""
                return "No long-lived token\(which) is valid."
            }
            return TextTable(
                header: ["EXPIRES", "IN", "SERVICE", "PROFILE", "CLIENT", "KEY ID", "ISSUED", "ENTRY"]
                    + (all.allLogs ? ["LOG"] : []),
                rows: tokens.map { token in
                    let cells = [
                        token.expires.text, token.rest(at: now), token.service, token.profile, token.client,
                        token.keyID, token.issuedAt.text, "\(token.entry)",
                    ]
                    return (cells + (all.allLogs ? [token.log] : [])).map(PlainText.of)
                }
            ).text
        }
    }
}

extension LongLivedTokens {
    static let incomplete =
        "The list of long-lived tokens is not complete: entries of the last 184 days were archived, or there are too many."
}

extension LongLivedToken {
    /// Such as `41d` or `5h`.
    func rest(at now: Timestamp) -> String {
        let hours = max(expires.milliseconds - now.milliseconds, 0) / 3_600_000
        return hours < 48 ? "\(hours)h" : "\(hours / 24)d"
    }

    /// A line for people: what is valid, for whom, and until when.
    func sentence(at now: Timestamp) -> String {
        "\(PlainText.of(service)) (\(PlainText.of(profile))) for \(PlainText.of(client)), until \(expires.text), "
            + "in \(rest(at: now)): entry \(entry) of \(PlainText.of(log))"
    }
}
