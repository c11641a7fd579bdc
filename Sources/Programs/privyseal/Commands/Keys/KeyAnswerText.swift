import AuditKit
import KeyLifecycle
import Signing
import SigningKit

/// Describes the result of a change: what happened and when, where it is recorded, and the next step.
struct KeyAnswerText {
    /// The option that reaches the gateway, such as `--config gateway.yaml`, for suggested commands.
    let gatewayOption: String
    /// Seconds in which a failure makes the previous key active again; nil if the command did not say.
    let watch: Int?

    init(where gatewayOption: String, watch: Int? = nil) {
        self.gatewayOption = gatewayOption
        self.watch = watch
    }

    func text(_ answer: KeyChangeAnswer) -> String {
        switch answer {
        case .done(let records): done(records)
        case .proposed(let proposal): proposed(proposal)
        }
    }

    // MARK: Done

    private func done(_ records: [KeyLifecycleRecord]) -> String {
        let next = records.flatMap { self.next($0, among: records) }
        return (records.map(happened) + next + [record(of: records)]).joined(separator: "\n")
    }

    private func happened(_ record: KeyLifecycleRecord) -> String {
        let key = PlainText.of(record.keyID)
        let since = record.since.text
        let sentence =
            switch record.state {
            case .staged: "\(key) is staged since \(since): it signs proofs of possession, and nothing else."
            case .active: "\(key) is active since \(since): from that time on it signs requests that name no key."
            case .retiring:
                "\(key) is retiring since \(since): it signs only requests that name it, "
                    + (record.retireAt.map { "until \($0.text)." } ?? "until it is retired.")
            case .retired: "\(key) is retired since \(since): it signs nothing from then on."
            case .destroyed: "\(key) is destroyed since \(since)."
            case .suspended: "\(key) is suspended since \(since): it signs nothing until it is resumed."
            case .compromised: "\(key) is compromised since \(since): it signs nothing."
            }
        return sentence + hands(record)
    }

    private func hands(_ record: KeyLifecycleRecord) -> String {
        guard let change = record.history.last else { return "" }
        let approval = change.approver.map { ", approved by \(PlainText.of($0))" } ?? ""
        return " By \(PlainText.of(change.actor))\(approval)."
    }

    private func next(_ record: KeyLifecycleRecord, among records: [KeyLifecycleRecord]) -> [String] {
        let key = PlainText.of(record.keyID)
        let wasActive = record.history.last?.from == .active && !records.contains { $0.state == .active }
        let nobody =
            wasActive
            ? ["No key of the account is active now: requests that name no key are refused until one is active."] : []
        switch record.state {
        case .active:
            let other = records.first { $0.state == .retiring }.map { PlainText.of($0.keyID) }
            guard let watch, let other else { return [] }
            return [
                "If \(key) fails within \(DurationArgument(seconds: watch)), \(other) becomes active again by itself."
            ]
        case .retiring:
            guard let retireAt = record.retireAt else { return [] }
            return [
                "Next: \(key) stops answering at \(retireAt.text). Revoke it in App Store Connect after that, not before; then "
                    + "privyseal keys destroy \(key) deletes it from its token."
            ]
        case .suspended:
            let from = record.suspendedFrom.map { " to \($0.rawValue)" } ?? ""
            return nobody + ["Next: privyseal keys resume \(key) brings it back\(from)."]
        case .compromised:
            return nobody + [
                "Next: revoke it in App Store Connect, import a new key and activate that. If it was a false alarm, "
                    + "privyseal keys restore \(key) undoes it."
            ]
        case .retired:
            return [
                "Next: revoke it in App Store Connect; then privyseal keys destroy \(key) deletes it from its token."
            ]
        case .staged: return ["Next: privyseal keys activate \(key) makes it active."]
        case .destroyed: return ["Next: remove it from the configuration, and reload."]
        }
    }

    /// The command that finds the change in the audit log.
    private func record(of records: [KeyLifecycleRecord]) -> String {
        guard let since = records.map(\.since).min() else { return "Nothing has changed." }
        let key = records.count == 1 ? " --key \(PlainText.of(records[0].keyID))" : ""
        return "In the audit log: privyseal audit search --kind life\(key) --since \(since.text) \(logPlace)"
    }

    /// The audit log is read with the configuration, never over the admin listener.
    private var logPlace: String { gatewayOption.hasPrefix("--config") ? gatewayOption : "--config FILE" }

    // MARK: Proposed

    private func proposed(_ proposal: KeyProposal) -> String {
        let id = PlainText.of(proposal.id)
        let what = KeyWarnings.words(of: proposal)
        let expires = proposal.expires.text
        guard let approver = proposal.approver else {
            return """
                Nothing has changed yet: the account requires two administrators. \(PlainText.of(proposal.proposer)) \
                has proposed to \(what), as \(id).
                Next: another administrator looks at it until \(expires), with privyseal keys proposals, and approves it: privyseal \
                keys approve \(id) --digest \(proposal.digest)
                """
        }
        return """
            \(PlainText.of(approver)) has approved \(id): to \(what).
            Next: until \(expires), run the same command again; now it begins the work.
            """
    }
}
