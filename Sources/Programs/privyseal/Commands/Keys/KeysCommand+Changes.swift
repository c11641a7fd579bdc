import ArgumentParser
import AuditKit
import KeyLifecycle
import Signing
import SigningKit

extension KeysCommand {
    struct Prove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prove",
            abstract: "Make a key sign a fresh proof of possession, and record it.",
            discussion: """
                  privyseal keys prove 3Y8S5JYG45 --config gateway.yaml

                The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer. It is verified \
                with the public key, which must be the one in the register and the configuration. privyseal keys \
                activate does this automatically.
                """)

        @OptionGroup var key: KeyOption

        func run() async throws {
            let record = try await key.target.lifecycleClient().prove(key.key)
            key.output.show(
                record,
                text: record.proofText("\(PlainText.of(record.keyID)), which is \(record.state.rawValue), has"))
        }
    }

    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate",
            abstract: "Make a key the active one, in place of the current one; it signs requests that name no key.",
            discussion: """
                  privyseal keys activate 3Y8S5JYG45 --retire 2X9R4HXF34 --overlap 24h \\
                    --reason "Yearly rotation" --config gateway.yaml

                First the new key signs a proof of possession. Then it replaces the old one without interrupting \
                requests: signatures have the old key's ID until the time that is shown, and the new key's ID from \
                then on. During the overlap, the old key still signs requests that name it; then it is retired.

                If the new key fails within --watch, the old one automatically becomes active again, the new one is \
                suspended, and the log and privyseal keys history say why.

                Revoke the old key at Apple once it is retired, not before: its last signatures may still \
                be in use until then.
                """)

        @Option(
            help: ArgumentHelp(
                "The ID of the active key. Omit it only if no key is active.", valueName: "key-id"))
        var retire: String?

        @Option(
            help: ArgumentHelp(
                "How long the old key still signs requests that name it: 90s, 45m, 24h, 7d.", valueName: "span"))
        var overlap: DurationArgument?

        @Option(
            help: ArgumentHelp(
                "How long a failure of the new key makes the old one active again.", valueName: "span"))
        var watch = DurationArgument(seconds: 300)

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func validate() throws {
            guard (retire == nil) == (overlap == nil) else {
                throw ValidationError("Give --retire and --overlap together: --retire OLD --overlap 24h.")
            }
        }

        func run() async throws {
            try consent.require(intention)
            let client = try await change.target.lifecycleClient()
            let proven = try await client.prove(change.key)
            if change.output.format == .text { print(proven.proofText("\(change.key) has")) }
            try await change.make(
                KeyChangeOrder(
                    .activate, change.key, reason: change.reason.text, retiring: retire, overlap: overlap?.seconds,
                    watch: retire == nil ? nil : watch.seconds), client)
        }

        private var intention: String {
            guard let retire, let overlap else { return "\(change.key) becomes the active key." }
            return
                "\(change.key) becomes the active key in place of \(retire), which signs requests that name it for another \(overlap)."
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend",
            abstract: "Stop a key temporarily; from the next request on, it signs nothing.",
            discussion: """
                  privyseal keys suspend 2X9R4HXF34 --reason "Odd" --config gateway.yaml

                The command asks for no confirmation and needs no second administrator, because stopping a key must be \
                quick. If the key is active, requests that name no key are refused until privyseal keys resume \
                reactivates it or another key is activated.
                """)

        @OptionGroup var change: KeyChangeOption

        func run() async throws { try await change.make(.suspend) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Return a suspended key to its previous state.",
            discussion: """
                  privyseal keys resume 2X9R4HXF34 --reason "All well" --config gateway.yaml

                A key that was active first signs a fresh proof of possession. It cannot become active again while \
                another key is.
                """)

        @OptionGroup var change: KeyChangeOption

        func run() async throws { try await change.make(.resume) }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retire",
            abstract: "Retire a key permanently; it signs nothing from then on.",
            discussion: """
                  privyseal keys retire 2X9R4HXF34 --reason "Unused" --config gateway.yaml

                The key must be staged, retiring, suspended or compromised. To retire the active key, activate another \
                one: privyseal keys activate NEW --retire OLD. A retiring key is retired automatically at the end of \
                its overlap.

                A retired key is never used again.
                """)

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(change.key) is retired permanently, and signs nothing from then on.")
            try await change.make(.retire)
        }
    }

    struct Compromise: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compromise",
            abstract: "Declare a key compromised; from the next request on, it signs nothing.",
            discussion: """
                  privyseal keys compromise 2X9R4HXF34 --reason "Laptop with the .p8 stolen" \\
                    --config gateway.yaml

                This needs no second administrator, because stopping a key must be quick. Revoke the key in App Store \
                Connect, import a new one, and activate it: the gateway cannot prevent signatures with a stolen copy \
                of the key.
                """)

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func run() async throws {
            try consent.require("The key \(change.key) is stopped at once, and counts as compromised.")
            try await change.make(.compromise)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Undo privyseal keys compromise, for a false alarm.",
            discussion: """
                  privyseal keys restore 2X9R4HXF34 --reason "The laptop was found, sealed" \\
                    --config gateway.yaml

                The key becomes suspended. If it is then resumed, it is staged: it signs nothing until it is \
                activated, with a fresh proof of possession. A key that was retired or destroyed before it was \
                compromised permanently returns to that state. If the account requires two administrators, another one \
                must approve.
                """)

        @OptionGroup var change: KeyChangeOption

        func run() async throws { try await change.make(.restore) }
    }
}

/// The argument and the options of every command that changes a key's state.
struct KeyChangeOption: ParsableArguments {
    @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
    var key: String

    @OptionGroup var reason: ReasonOption
    @OptionGroup var target: AdminOption
    @OptionGroup var output: OutputOption

    /// Requests the change, and prints the result.
    func make(_ action: KeyLifecycleAction) async throws {
        try await make(KeyChangeOrder(action, key, reason: reason.text), try await target.lifecycleClient())
    }

    func make(_ order: KeyChangeOrder, _ client: any KeyLifecycleClient) async throws {
        let answer = try await client.change(order)
        output.show(answer, text: KeyAnswerText(gatewayOption: target.gatewayOption, watch: order.watch).text(answer))
        guard case .done(let records, _) = answer else { return }
        for record in records where record.state.endsUse { await Self.reportTokens(of: record.keyID, client) }
    }

    /// Says on standard error which tokens of a key are still valid, although it signs no more.
    private static func reportTokens(of keyID: String, _ client: any KeyLifecycleClient) async {
        let key = PlainText.of(keyID)
        do {
            let found = try await client.longLivedTokens(of: keyID)
            let tokens = found.tokens
            guard !tokens.isEmpty else { return }
            if !found.isComplete { StandardError.print(LongLivedTokens.incomplete) }
            let count = tokens.count == 1 ? "1 long-lived token" : "\(tokens.count) long-lived tokens"
            let now = Timestamp.now()
            StandardError.print(
                (["\(count) of \(key) stay valid at Apple until they expire, or until the key is revoked there:"]
                    + tokens.prefix(Self.longestList).map { "  " + $0.sentence(at: now) }
                    + (tokens.count > Self.longestList
                        ? ["  … privyseal tokens list --all-logs --key \(key) shows all of them."] : []))
                    .joined(separator: "\n"))
        } catch {
            StandardError.print(
                "The tokens of \(key) that are still valid could not be listed: \(error) Use privyseal tokens list --all-logs --key \(key)."
            )
        }
    }

    private static let longestList = 20
}

extension KeyLifecycleState {
    /// Whether the key signs nothing that names no key any more, and does not return by itself.
    fileprivate var endsUse: Bool {
        switch self {
        case .retiring, .retired, .compromised: true
        case .staged, .active, .suspended, .destroyed: false
        }
    }
}

extension KeyLifecycleRecord {
    fileprivate func proofText(_ subject: String) -> String {
        "\(subject) signed a fresh proof of possession" + (fingerprint.map { "; its fingerprint is \($0)." } ?? ".")
    }
}
