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

                Revoking a key at Apple ends all of its tokens.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var output: OutputOption

        @Option(help: ArgumentHelp("Only tokens of this key.", valueName: "key-id"))
        var key: String?

        func run() throws {
            let now = Timestamp.now()
            let query = LongLivedToken.query(at: now, keyID: key)
            let tokens = try log.open(for: query).longLivedTokens(at: now, keyID: key)
            try output.write(["tokens": tokens.map(\.members)] as JSONMembers, text: Self.text(tokens, at: now))
        }

        private static func text(_ tokens: [LongLivedToken], at now: Timestamp) -> String {
            guard !tokens.isEmpty else { return "No long-lived token is valid." }
            return TextTable(
                header: ["EXPIRES", "IN", "SERVICE", "PROFILE", "CLIENT", "KEY ID", "ISSUED", "ENTRY"],
                rows: tokens.map { token in
                    [
                        token.expires.text, token.rest(at: now), token.service, token.feature, token.client,
                        token.keyID,
                        token.issuedAt.text, "\(token.entry)",
                    ].map(PlainText.of)
                }
            ).text
        }
    }
}

extension LongLivedToken {
    /// The name of the service in the configuration.
    var service: String { String(app.trimmingPrefix("services/")) }

    /// Such as `41d` or `5h`.
    func rest(at now: Timestamp) -> String {
        let hours = max(expires.milliseconds - now.milliseconds, 0) / 3_600_000
        return hours < 48 ? "\(hours)h" : "\(hours / 24)d"
    }

    /// A line for people: what is valid, for whom, and until when.
    func sentence(at now: Timestamp) -> String {
        "\(PlainText.of(service)) (\(PlainText.of(feature))) for \(PlainText.of(client)), until \(expires.text), "
            + "in \(rest(at: now)): entry \(entry)"
    }

    var members: JSONMembers {
        [
            "service": service, "profile": feature, "client": client, "keyId": keyID, "issuedAt": issuedAt,
            "expiresAt": expires, "entry": entry, "kind": kind,
        ]
    }
}
