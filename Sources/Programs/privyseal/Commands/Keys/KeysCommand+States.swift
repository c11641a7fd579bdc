import ArgumentParser
import AuditKit
import GatewayHTTP
import KeyLifecycle
import SigningKit

extension KeysCommand {
    struct States: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "states",
            abstract: "Show the state of every key, and what needs action.",
            discussion: """
                The state says what a key may be used for; the fitness says whether it can sign. Below the table, the \
                command lists unfinished work on tokens, differences between configuration and register, and \
                proposals, each with the action to take.
                """)

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let overview = try await target.lifecycleClient().overview()
            output.show(overview, text: KeyStatesText(overview: overview).text)
        }
    }
}

private struct KeyStatesText {
    let overview: KeyLifecycleOverview

    var text: String {
        ([table] + dualControl + complaints + KeyWarnings(overview).sentences).joined(separator: "\n")
    }

    private var table: String {
        TextTable(
            header: ["KEY ID", "ACCOUNT", "STATE", "SINCE", "RETIRES AT", "FITNESS", "PROVENANCE", "FINGERPRINT"],
            rows: overview.accounts.flatMap { account in account.keys.map { row($0, account) } }
        ).text
    }

    private func row(_ key: KeyLifecycleOverview.Key, _ account: KeyLifecycleOverview.Account) -> [String] {
        let life = key.life
        return [
            life.keyID, account.issuerID, key.stateText, life.since.text, life.retireAt?.text ?? "-",
            key.isDeclared ? key.fitness ?? "-" : "not configured", life.provenance.rawValue,
            life.fingerprint.map { Self.short($0.description) } ?? "-",
        ].map { PlainText.of($0) }
    }

    /// Enough to distinguish keys; privyseal keys show prints all of it.
    private static func short(_ fingerprint: String) -> String {
        fingerprint.count > shown ? fingerprint.prefix(shown) + "…" : fingerprint
    }

    private static let shown = 23

    private var dualControl: [String] {
        overview.accounts.filter(\.hasDualControl).map { account in
            "The account \(PlainText.of(account.issuerID)) requires two administrators."
        }
    }

    private var complaints: [String] {
        overview.accounts.flatMap(\.keys).compactMap { key in
            key.complaint.map { "\(PlainText.of(key.life.keyID)): \(PlainText.of($0))" }
        }
    }
}
