import AuditKit
import SigningKit
import StrictJSON

/// Two administrators.
extension KeyOffice {
    func propose(
        _ action: KeyLifeAction, issuerID: String, keyID: String, details: [String: String], reason: String,
        by actor: String
    ) async throws(KeyLifeRefusal) -> KeyProposal {
        let time = now
        if let same = board.proposals.first(where: {
            $0.action == action && $0.keyID == keyID && $0.details == details && $0.expires > time && $0.approver == nil
        }) {
            throw KeyLifeRefusal(
                "\(same.proposer) has proposed that already, as \(same.id). Another administrator approves it: privyseal keys "
                    + "approve \(same.id).")
        }
        let lifetime = account(issuerID)?.proposalLifetime ?? .seconds(86_400)
        let proposal = KeyProposal(
            id: Self.newID(), action: action, issuerID: issuerID, keyID: keyID, details: details, reason: reason,
            proposer: actor, proposed: time,
            expires: Timestamp(milliseconds: time.milliseconds + lifetime.components.seconds * 1000))
        try await set(board.proposals + [proposal], .proposed, proposal, by: actor)
        return proposal
    }

    /// What needs no work on a token is done at once.
    public func approve(_ id: String, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try await inTurn { () throws(KeyLifeRefusal) in
            var proposal = try self.proposal(id)
            guard proposal.approver == nil else { throw KeyLifeRefusal("The proposal \(id) is approved already.") }
            guard proposal.proposer != actor else {
                throw KeyLifeRefusal(
                    "\(actor) proposed it; another administrator has to approve. Two persons means two clients.")
            }
            proposal.approver = actor
            let others = board.proposals.filter { $0.id != id }
            switch proposal.action {
            case .import, .generate, .destroy:
                try await set(others + [proposal], .approved, proposal, by: actor)
                return .proposed(proposal)
            default:
                let records = try await perform(KeyChangeOrder(proposal), by: proposal.proposer, approver: actor)
                try await set(others, .approved, proposal, by: actor)
                return .done(records)
            }
        }
    }

    public func reject(_ id: String, by actor: String) async throws(KeyLifeRefusal) {
        try await inTurn { () throws(KeyLifeRefusal) in
            let proposal = try self.proposal(id)
            try await set(board.proposals.filter { $0.id != id }, .rejected, proposal, by: actor)
        }
    }

    func forgetExpiredProposals() async throws(KeyLifeRefusal) {
        let time = now
        for proposal in board.proposals where proposal.expires <= time {
            try await set(board.proposals.filter { $0.id != proposal.id }, .rejected, proposal, by: Self.gatewayName)
        }
    }

    private func proposal(_ id: String) throws(KeyLifeRefusal) -> KeyProposal {
        guard let proposal = board.proposals.first(where: { $0.id == id }), proposal.expires > now else {
            throw KeyLifeRefusal(
                .unknown, "There is no proposal \(id): it was made use of, was rejected, or has expired.")
        }
        return proposal
    }

    func set(
        _ proposals: [KeyProposal], _ event: LifeRecord.Event, _ proposal: KeyProposal, by actor: String
    ) async throws(KeyLifeRefusal) {
        try await register([
            (LifeRecord(proposal, event, by: actor), RegisterName.proposals, JSONWriter.list(proposals))
        ])
        board.set(proposals: proposals)
    }

    /// Short enough to be read out to a colleague.
    static func newID() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<8).compactMap { _ in letters.randomElement(using: &random) })
    }
}

extension LifeRecord {
    init(_ proposal: KeyProposal, _ event: Event, by actor: String) {
        self.init(
            event, action: proposal.action.rawValue, issuerID: proposal.issuerID, keyID: proposal.keyID, actor: actor,
            reason: proposal.reason, id: proposal.id, evidence: proposal.details)
    }
}

extension KeyChangeOrder {
    init(_ proposal: KeyProposal) {
        self.init(
            proposal.action, proposal.keyID, reason: proposal.reason, retiring: proposal.details["retiring"],
            overlap: proposal.details["overlap"].flatMap(Int.init), watch: proposal.details["watch"].flatMap(Int.init))
    }
}

extension JSONWriter {
    static func list(_ elements: [some JSONWritable]) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.array { writer in for element in elements { element.write(to: &writer) } }
        return writer.bytes
    }
}
