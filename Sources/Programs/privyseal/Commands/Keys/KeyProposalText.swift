import AuditKit
import KeyLifecycle
import SigningKit

/// A proposal as text, for the administrator who decides.
struct KeyProposalText {
    let proposal: KeyProposal

    init(_ proposal: KeyProposal) {
        self.proposal = proposal
    }

    var text: String {
        var members: [(name: String, value: String)] = [
            ("proposal", proposal.id), ("what", KeyWarnings.words(of: proposal)), ("account", proposal.issuerID),
            ("key", proposal.keyID),
        ]
        for (name, value) in proposal.details.sorted(by: { $0.key < $1.key }) { members.append((name, value)) }
        let circumstances: [(name: String, value: String)] = [
            ("reason", proposal.reason), ("proposed by", proposal.proposer), ("at", proposal.proposed.text),
            ("expires", proposal.expires.text),
        ]
        members += circumstances
        if let approver = proposal.approver { members.append(("approved by", approver)) }
        members.append(("digest", proposal.digest))
        let width = 13
        let lines = members.map { name, value in
            PlainText.of(name) + String(repeating: " ", count: max(1, width - name.count)) + PlainText.of(value)
        }
        return (lines + [next]).joined(separator: "\n")
    }

    private var next: String {
        let id = PlainText.of(proposal.id)
        guard proposal.approver == nil else { return "Next: the proposer runs the same command again." }
        return "Next: privyseal keys approve \(id) --digest \(proposal.digest), or privyseal keys reject \(id)"
    }
}
