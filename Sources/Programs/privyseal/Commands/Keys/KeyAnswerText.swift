import AuditKit
import KeyLifecycle
import Signing
import SigningKit

/// Describes the result of a change: what happened and when, where it is recorded, and the next step.
struct KeyAnswerText {
    /// The option that reaches the gateway, such as `--config gateway.yaml`, for suggested commands.
    let gatewayOption: String
    /// Seconds in which a failure makes the previous key active again; nil if the command did not say.
    var watch: Int?

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
        let withoutActive =
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
            return withoutActive + ["Next: privyseal keys resume \(key) brings it back\(from)."]
        case .compromised:
            return withoutActive + [
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

/// The open matters of the register: a sentence for each, with the required action.
struct KeyWarnings {
    /// Provisioning jobs that began and did not end.
    let jobs: [String]
    /// Differences between configuration and register.
    let differences: [String]
    /// Proposals that wait for a second administrator. They are not faults.
    let proposals: [String]

    init(_ overview: KeyLifecycleOverview) {
        jobs = overview.jobs.map(Self.sentence)
        differences = overview.differences.map { PlainText.of($0) }
        proposals = overview.proposals.map(Self.sentence)
    }

    /// Whether an administrator has to act.
    var isUrgent: Bool { !jobs.isEmpty || !differences.isEmpty }

    var sentences: [String] { jobs + differences + proposals }

    private static func sentence(_ job: ProvisioningJob) -> String {
        let key = PlainText.of(job.keyID)
        let begun = "began at \(job.begun.text) by \(PlainText.of(job.worker)) and did not end"
        let target = PlainText.of(job.uri)
        if job.report != nil {
            return
                "The \(job.action.rawValue) of \(key) \(begun): it was reported done, but the gateway has not seen the key at "
                + "\(target). It ends by itself when the configuration names a key on that token; or run the same privyseal keys "
                + "\(job.action.rawValue) again."
        }
        switch job.action {
        case .generate:
            return
                "A generation of \(key) \(begun). There may be a key at \(target), or none: run the same privyseal keys generate "
                + "again; it looks there and continues its work."
        case .destroy:
            return
                "A destruction of \(key) \(begun). The key may still be at \(target): run the same privyseal keys destroy again; "
                + "it looks there and continues its work."
        default:
            return
                "An import of \(key) \(begun). The key may be at \(target) already, or not: run the same privyseal keys import "
                + "again, and keep the .p8 or the package until it has ended; it looks there and continues its work."
        }
    }

    private static func sentence(_ proposal: KeyProposal) -> String {
        let id = PlainText.of(proposal.id)
        let what = "\(PlainText.of(proposal.proposer)) proposed at \(proposal.proposed.text) to \(words(of: proposal))"
        let expires = proposal.expires.text
        if let approver = proposal.approver {
            return
                "\(what), and \(PlainText.of(approver)) approved it: run the same command again until \(expires), which begins it."
        }
        return
            "\(what). Another administrator decides until \(expires): privyseal keys proposals shows all of it, with the command "
            + "that approves it; privyseal keys reject \(id) rejects it."
    }

    /// The proposed action, to follow "to": `activate 3Y8S5JYG45 and retire 2X9R4HXF34 with 24h of overlap`.
    static func words(of proposal: KeyProposal) -> String {
        var words = "\(proposal.action.rawValue) \(PlainText.of(proposal.keyID))"
        if let retiring = proposal.details["retiring"] {
            words += " and retire \(PlainText.of(retiring))"
            if let overlap = proposal.details["overlap"].flatMap({ Int($0) }) {
                words += " with \(DurationArgument(seconds: overlap)) of overlap"
            }
        }
        if let uri = proposal.details["uri"] { words += " at \(PlainText.of(uri))" }
        if let fingerprint = proposal.details["fingerprint"] { words += " with \(PlainText.of(fingerprint))" }
        if let job = proposal.details["takesOver"] { words += ", taking over the work \(PlainText.of(job))" }
        return words
    }
}
