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

    /// - Parameter answer: to an order for a change, or to an approval.
    func text(_ answer: KeyLifecycleAnswer) -> String {
        switch answer {
        case .done(let records, let fleet): ([done(records, in: fleet)] + confirmation(fleet)).joined(separator: "\n")
        case .activating(let activation, let gateways): activating(activation, gateways)
        case .ended(let record): done([record])
        case .proposed(let proposal): proposed(proposal)
        case .begun(let job), .waiting(let job): KeyWarnings.sentence(job)
        }
    }

    private func command(_ words: String) -> String { "privyseal keys \(words) \(gatewayOption)" }

    private func change(_ words: String) -> String { command(words + #" --reason "…""#) }

    // MARK: The fleet

    private func confirmation(_ fleet: FleetConfirmation?) -> [String] {
        guard let fleet else { return [] }
        let names = { (origins: [String]) in origins.map { PlainText.of($0) }.joined(separator: ", ") }
        let confirmed = "Confirmed by \(fleet.confirmed.count) gateways: \(names(fleet.confirmed))."
        guard !fleet.missing.isEmpty else { return [confirmed] }
        return [
            confirmed,
            "NOT confirmed by \(names(fleet.missing)): it stops signing if it cannot read the key states. See "
                + "privyseal fleet show.",
        ]
    }

    private func activating(_ activation: FleetActivation, _ gateways: [String]) -> String {
        let key = PlainText.of(activation.keyID)
        let names = gateways.map { PlainText.of($0) }
        return """
            Nothing has changed yet: \(names.joined(separator: ", ")) did not prove \(key). When all gateways have, it \
            becomes active by itself.
            Next: start them again, or: privyseal fleet fence \(names.first ?? "GATEWAY") --reason … --yes \(gatewayOption)
            To give up the activation: \(change("suspend \(key)"))
            """
    }

    // MARK: Done

    private func done(_ records: [KeyLifecycleRecord], in fleet: FleetConfirmation? = nil) -> String {
        let wasActive = records.contains { $0.history.last?.from == .active }
        let withoutActive =
            wasActive && !records.contains { $0.state == .active }
            ? ["No key of the account is active now: requests that name no key are refused until one is active."] : []
        let next = records.compactMap { self.next($0).map { "Next: \($0)" } }
        return (records.map(happened) + withoutActive + reversal(records) + next + [record(of: records, in: fleet)])
            .joined(separator: "\n")
    }

    private func happened(_ record: KeyLifecycleRecord) -> String {
        let effect =
            switch record.state {
            case .staged: ": it signs proofs of possession, and nothing else."
            case .active: ": from that time on it signs requests that name no key."
            case .retiring:
                ": it signs only requests that name it, "
                    + (record.retireAt.map { "until \($0.text)." } ?? "until it is retired.")
            case .retired: ": it signs nothing from then on."
            case .destroyed: "."
            case .suspended: ": it signs nothing until it is resumed."
            case .compromised: ": it signs nothing."
            }
        let change = record.history.last
        let approval = change?.approver.map { ", approved by \(PlainText.of($0))" } ?? ""
        return "\(PlainText.of(record.keyID)) is \(record.state.rawValue) since \(record.since.text)\(effect)"
            + (change.map { " By \(PlainText.of($0.actor))\(approval)." } ?? "")
    }

    private func reversal(_ records: [KeyLifecycleRecord]) -> [String] {
        guard let watch, let new = records.first(where: { $0.state == .active }),
            let old = records.first(where: { $0.state == .retiring })
        else { return [] }
        return [
            "If \(PlainText.of(new.keyID)) fails within \(DurationArgument(seconds: watch)), \(PlainText.of(old.keyID)) "
                + "becomes active again by itself."
        ]
    }

    private func next(_ record: KeyLifecycleRecord) -> String? {
        let key = PlainText.of(record.keyID)
        return switch record.state {
        case .active: nil
        case .retiring:
            record.retireAt.map {
                "\(key) stops answering at \($0.text). Revoke it \(place(record)) after that, not before; then "
                    + "\(command("destroy \(key)")) deletes it from its token."
            }
        case .suspended:
            "\(change("resume \(key)")) brings it back\(record.suspendedFrom.map { " to \($0.rawValue)" } ?? "")."
        case .compromised:
            "revoke it \(place(record)), import a new key and activate that. If it was a false alarm, "
                + "\(change("restore \(key)")) undoes it."
        case .retired:
            "revoke it \(place(record)); then \(command("destroy \(key)")) deletes it from its token."
        case .staged: "\(change("activate \(key)")) makes it active."
        case .destroyed: "remove it from the configuration, and reload."
        }
    }

    /// Where Apple shows the key. The keys of services have accounts of their own.
    private func place(_ record: KeyLifecycleRecord) -> String {
        record.issuerID.hasPrefix("services/")
            ? "on the page where Apple issued it (for most services Certificates, Identifiers & Profiles)"
            : "in App Store Connect"
    }

    /// The command that finds the change in the audit log.
    private func record(of records: [KeyLifecycleRecord], in fleet: FleetConfirmation?) -> String {
        guard let since = records.map(\.since).min() else { return "Nothing has changed." }
        let key = records.count == 1 ? " --key \(PlainText.of(records[0].keyID))" : ""
        let logs = fleet == nil ? "" : " --all-logs"
        return "In the audit log: privyseal audit search\(logs) --kind life\(key) --since \(since.text) \(logPlace)"
    }

    /// The audit log is read with the configuration, never over the admin listener.
    private var logPlace: String { gatewayOption.hasPrefix("--config") ? gatewayOption : "--config FILE" }

    private func proposed(_ proposal: KeyProposal) -> String {
        let sentence = KeyWarnings.sentence(proposal)
        guard proposal.approver == nil else { return sentence }
        return """
            Nothing has changed yet: a second administrator has to approve. \(sentence)
            Next: \(command("approve \(PlainText.of(proposal.id)) --digest \(proposal.digest)"))
            """ + (proposal.isJob ? "\nThen run the same command again." : "")
    }
}

extension KeyProposal {
    /// Whether the proposer carries out the approved proposal, by the same command.
    var isJob: Bool { [.import, .generate, .destroy].contains(action) }
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

    static func sentence(_ job: ProvisioningJob) -> String {
        let (key, action, target) = (PlainText.of(job.keyID), job.action.rawValue, places(job))
        let begun = "The \(action) of \(key) began at \(job.begun.text) by \(PlainText.of(job.worker)) and did not end"
        let isReported = job.report != nil || job.replicas.count > 0 && job.results.count == job.uris.count
        guard !isReported else {
            return
                "\(begun): it was reported done, but the gateway has not seen the key at \(target). It ends by itself when the "
                + "configuration names a key on that token; or run the same privyseal keys \(action) again."
        }
        return
            "\(begun). There may be a key at \(target), or none: run the same privyseal keys \(action) again; it looks "
            + "there and continues its work."
            + (job.action == .import ? " Keep the .p8 or the package until it has ended." : "")
    }

    /// The places at which the work is not finished.
    private static func places(_ job: ProvisioningJob) -> String {
        let finished = job.finishedURIs
        let left = job.uris.filter { !finished.contains($0) }.map { PlainText.of($0) }.joined(separator: " and ")
        guard !finished.isEmpty else { return left }
        return "\(left) (it is finished at \(finished.map { PlainText.of($0) }.joined(separator: " and ")))"
    }

    static func sentence(_ proposal: KeyProposal) -> String {
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
        for number in 1... {
            guard let replica = proposal.details["replica.\(number)"] else { break }
            words += " and \(PlainText.of(replica))"
        }
        if let fingerprint = proposal.details["fingerprint"] { words += " with \(PlainText.of(fingerprint))" }
        if let job = proposal.details["takesOver"] { words += ", taking over the work \(PlainText.of(job))" }
        return words
    }
}
