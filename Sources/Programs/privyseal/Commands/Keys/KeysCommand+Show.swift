import ArgumentParser
import AuditKit
import GatewayHTTP
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

extension KeysCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract:
                "List every key of the configuration: ID, account, location, custody, fingerprint, fitness.",
            discussion:
                """
                Each key is opened and signs a proof. ROLE is the key's state in the register, which says what the key may \
                be used for; privyseal keys states shows more of it. Without an audit log there is no register: then \
                ROLE says whether a request gets the key without naming it (active) or only if it names it (if named).
                """)

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let configuration = try config.load()
            let register = await KeyRegisterCheck.take(configuration, config.path)
            let keys = await KeyInventory.take(configuration, states: register.states)
            output.show(["keys": keys.members] as JSONMembers, text: keys.text)
        }
    }

    struct States: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "states",
            abstract: "Show the state of every key, and what needs action.",
            discussion: """
                The state says what a key may be used for; the fitness says whether it can sign. Below the table, the \
                command lists unfinished work on tokens, differences between configuration and register, and \
                proposals, each with the action to take.
                """)

        @OptionGroup var target: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let overview = try await target.lifecycleClient().overview()
            output.show(overview, text: overview.text)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one key in full: state, location, fingerprint, history with evidence.")

        @OptionGroup var key: KeyOption

        func run() async throws {
            let found = try await key.found()
            key.output.show(found, text: found.whole)
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List every recorded change of one key: time, action, actor, reason.")

        @OptionGroup var key: KeyOption

        func run() async throws {
            let found = try await key.found()
            key.output.show(found.life, text: found.history)
        }
    }
}

/// The argument and the options of a command about one key.
struct KeyOption: ParsableArguments {
    @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
    var key: String

    @OptionGroup var target: AdminOption
    @OptionGroup var output: OutputOption

    /// - Throws: `CommandError` if there is no such key.
    fileprivate func found() async throws -> KeyLifecycleOverview.Key {
        guard let found = try await target.lifecycleClient().overview().key(key) else {
            throw CommandError("There is no key \(key). privyseal keys states lists the keys.")
        }
        return found
    }
}

extension KeyLifecycleOverview {
    /// A table of all keys, followed by what needs action.
    fileprivate var text: String {
        let keys = accounts.flatMap { account in account.keys.map { (account: account, key: $0) } }
        let table = TextTable(
            header: ["KEY ID", "ACCOUNT", "STATE", "SINCE", "RETIRES AT", "FITNESS", "PROVENANCE", "FINGERPRINT"],
            rows: keys.map { account, key in
                let life = key.life
                return [
                    life.keyID, account.issuerID, key.stateText, life.since.text, life.retireAt?.text ?? "-",
                    key.isDeclared ? key.fitness ?? "-" : "not configured", life.provenance.rawValue,
                    // Enough to distinguish keys; privyseal keys show prints all of it.
                    life.fingerprint.map { $0.description.prefix(23) + "…" } ?? "-",
                ].map { PlainText.of($0) }
            })
        let dualControl = accounts.filter(\.hasDualControl).map { account in
            "The account \(PlainText.of(account.issuerID)) requires two administrators."
        }
        let complaints = keys.compactMap { _, key in
            key.complaint.map { "\(PlainText.of(key.life.keyID)): \(PlainText.of($0))" }
        }
        let replicas = TextTable(
            header: ["REPLICA OF", "FITNESS", "CUSTODY", "SERIAL", "WHERE"],
            rows: keys.flatMap { _, key in
                key.replicas.map { ([key.life.keyID] + $0.cells).map { PlainText.of($0) } }
            })
        let tables = replicas.rows.isEmpty ? [table.text] : [table.text, replicas.text]
        return (tables + dualControl + complaints + KeyWarnings(self).sentences).joined(separator: "\n")
    }
}

extension KeyLifecycleOverview.Replica {
    fileprivate var cells: [String] { [fitness, custody ?? "-", tokenSerial ?? "-", uri] }
}

extension KeyLifecycleOverview.Key {
    /// All facts and the history with its evidence.
    fileprivate var whole: String {
        let facts: [(String, String?)] = [
            ("key", life.keyID), ("account", life.issuerID),
            ("state", isRecorded ? "\(life.state.rawValue) since \(life.since.text)" : stateText),
            ("resumes as", life.suspendedFrom?.rawValue), ("retires at", life.retireAt?.text),
            ("fitness", isDeclared ? fitness : "not in the configuration"), ("because", complaint),
            ("where", replicas.isEmpty ? uri : nil), ("custody", custody), ("provenance", life.provenance.rawValue),
            ("fingerprint", life.fingerprint?.description),
        ]
        let places = replicas.map { replica in
            ("place", "\(replica.cells.joined(separator: ", "))" + (replica.complaint.map { ": \($0)" } ?? ""))
        }
        let list = FactList.text(facts + places, width: 12)
        return ([list, ""] + life.history.flatMap(Self.lines)).joined(separator: "\n")
    }

    /// The history as a table.
    fileprivate var history: String {
        TextTable(
            header: ["AT", "WHAT", "FROM", "TO", "BY", "APPROVED BY", "RETIRES AT", "REASON"],
            rows: life.history.map { change in
                [
                    change.time.text, change.action.rawValue, change.from?.rawValue ?? "-", change.to.rawValue,
                    change.actor, change.approver ?? "-", change.retireAt?.text ?? "-", change.reason,
                ].map { PlainText.of($0) }
            }
        ).text
    }

    private static func lines(_ change: KeyLifecycleChange) -> [String] {
        let from = change.from.map { "\($0.rawValue) → " } ?? ""
        let approval = change.approver.map { ", approved by \($0)" } ?? ""
        let retirement = change.retireAt.map { ", retires at \($0.text)" } ?? ""
        let first =
            "\(change.time.text)  \(change.action.rawValue): \(from)\(change.to.rawValue) by \(change.actor)\(approval)"
            + "\(retirement): \(change.reason)"
        let evidence = change.evidence.sorted { $0.key < $1.key }.map { "    \($0.key) = \($0.value)" }
        return ([first] + evidence).map { PlainText.of($0) }
    }

    /// The state, with a note if the register lacks the key.
    fileprivate var stateText: String { isRecorded ? life.state.rawValue : "\(life.state.rawValue), not recorded" }
}
