import AuditKit
import SigningGateway
import StrictJSON

/// What of the register waits for somebody: a sentence each, with what to do.
struct KeyAttention {
    /// Work on a token that began and did not end.
    let ceremonies: [String]
    /// Where configuration and register differ.
    let differences: [String]
    /// What a second administrator has to look at. Not a fault: it waits as it should.
    let proposals: [String]

    init(_ overview: KeyLifeOverview) {
        ceremonies = overview.ceremonies.map(Self.sentence)
        differences = overview.differences.map { PlainText.of($0) }
        proposals = overview.proposals.map(Self.sentence)
    }

    /// Whether somebody has to do something.
    var isUrgent: Bool { !ceremonies.isEmpty || !differences.isEmpty }

    var sentences: [String] { ceremonies + differences + proposals }

    private static func sentence(_ ceremony: KeyCeremony) -> String {
        let key = PlainText.of(ceremony.keyID)
        let begun = "began at \(ceremony.begun.text) by \(PlainText.of(ceremony.worker)) and did not end"
        let place = PlainText.of(ceremony.uri)
        if ceremony.report != nil {
            return
                "The \(ceremony.action.rawValue) of \(key) \(begun): it is said to be done, and the gateway has not seen the key at "
                + "\(place). It ends by itself when the configuration names a key on that token; or run the same privyseal keys "
                + "\(ceremony.action.rawValue) again."
        }
        switch ceremony.action {
        case .generate:
            return
                "A generation of \(key) \(begun). There may be a key at \(place), or none: run the same privyseal keys generate "
                + "again; it looks there and goes on where it was left."
        case .destroy:
            return
                "A destruction of \(key) \(begun). The key may still be at \(place): run the same privyseal keys destroy again; "
                + "it looks there and goes on where it was left."
        default:
            return
                "An import of \(key) \(begun). The key may be at \(place) already, or not: run the same privyseal keys import "
                + "again, and keep the .p8 or the package until it has ended; it looks there and goes on where it was left."
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

    /// What is proposed, as it goes on after "to": `activate 3Y8S5JYG45 and retire 2X9R4HXF34 with 24h of overlap`.
    static func words(of proposal: KeyProposal) -> String {
        var words = "\(proposal.action.rawValue) \(PlainText.of(proposal.keyID))"
        if let retiring = proposal.details["retiring"] {
            words += " and retire \(PlainText.of(retiring))"
            if let overlap = proposal.details["overlap"].flatMap({ Int($0) }) {
                words += " with \(KeySpan(seconds: overlap)) of overlap"
            }
        }
        if let uri = proposal.details["uri"] { words += " at \(PlainText.of(uri))" }
        if let fingerprint = proposal.details["fingerprint"] { words += " with \(PlainText.of(fingerprint))" }
        if let job = proposal.details["takesOver"] { words += ", taking over the work \(PlainText.of(job))" }
        return words
    }
}

extension KeyAttention {
    func writeMembers(to writer: inout JSONWriter) {
        for (name, sentences) in [
            ("ceremonies", ceremonies), ("differences", differences), ("proposals", proposals),
        ] as [(StaticString, [String])] {
            writer.name(name)
            writer.array { writer in for sentence in sentences { writer.string(sentence) } }
        }
    }
}
