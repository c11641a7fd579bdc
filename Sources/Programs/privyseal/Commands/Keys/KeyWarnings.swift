import AuditKit
import KeyLifecycle
import SigningKit

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
