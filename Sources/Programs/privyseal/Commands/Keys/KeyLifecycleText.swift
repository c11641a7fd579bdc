import AuditKit
import GatewayHTTP
import KeyLifecycle
import Signing
import SigningKit

struct KeyLifecycleText {
    let key: KeyLifecycleOverview.Key

    init(_ key: KeyLifecycleOverview.Key) {
        self.key = key
    }

    var whole: String {
        let life = key.life
        let width = 12
        let facts: [(String, String?)] = [
            ("key", life.keyID), ("account", life.issuerID),
            ("state", key.isRecorded ? "\(life.state.rawValue) since \(life.since.text)" : key.stateText),
            ("resumes as", life.suspendedFrom?.rawValue), ("retires at", life.retireAt?.text),
            ("fitness", key.isDeclared ? key.fitness : "not in the configuration"), ("because", key.complaint),
            ("where", key.uri), ("custody", key.custody), ("provenance", life.provenance.rawValue),
            ("fingerprint", life.fingerprint?.description),
        ]
        let lines = facts.compactMap { name, value in
            value.map { name + String(repeating: " ", count: width - name.count) + PlainText.of($0) }
        }
        return (lines + [""] + life.history.flatMap(Self.lines)).joined(separator: "\n")
    }

    var history: String {
        TextTable(
            header: ["AT", "WHAT", "FROM", "TO", "BY", "APPROVED BY", "RETIRES AT", "REASON"],
            rows: key.life.history.map { change in
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
}

extension KeyLifecycleOverview.Key {
    /// The state, with a note if the register lacks the key.
    var stateText: String { isRecorded ? life.state.rawValue : "\(life.state.rawValue), not recorded" }
}
