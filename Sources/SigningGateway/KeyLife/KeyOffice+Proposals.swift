import AuditKit
import SigningKit
import StrictJSON

/// Two administrators.
extension KeyOffice {
    func propose(
        _ action: KeyLifeAction, issuerID: String, keyID: String, details: [String: String], reason: String,
        by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyProposal {
        let time = now
        if let same = board.proposals.first(where: {
            $0.isFor(action, issuerID: issuerID, keyID: keyID, details: details) && !isOver($0) && $0.approver == nil
        }) {
            throw KeyLifeRefusal(
                "\(same.proposer) has proposed that already, as \(same.id). Another administrator approves it: privyseal keys "
                    + "approve \(same.id).")
        }
        try await forgetExpiredProposals()
        let lifetime = account(issuerID)?.proposalLifetime ?? .seconds(86_400)
        var proposal = KeyProposal(
            id: Self.newID(), action: action, issuerID: issuerID, keyID: keyID, details: details, reason: reason,
            proposer: actor.name, proposerProofs: actor.proofs, proposed: time,
            expires: time.later(by: lifetime.components.seconds))
        board.noteDeadlines([], [proposal], at: audit.clock.stepped)
        proposal.slot = try freeSlot(for: actor)
        try await set(board.proposals + [proposal], .proposed, proposal, by: actor.name, isOpen: true)
        return proposal
    }

    /// The number of a register that holds no proposal.
    private func freeSlot(for actor: Administrator) throws(KeyLifeRefusal) -> Int {
        let own = board.proposals.filter { $0.proposingPerson.isSamePerson(as: actor) }
        guard own.count < KeyLifeLimits.proposalsOfOne else {
            throw KeyLifeRefusal(
                "\(actor.name) has \(own.count) proposals that nobody decided, which is the most that one administrator can "
                    + "have. Reject one first, with privyseal keys reject.")
        }
        let taken = Set(board.proposals.compactMap(\.slot))
        guard board.proposals.count < KeyLifeLimits.proposals,
            let free = (0..<KeyLifeLimits.proposals).first(where: { !taken.contains($0) })
        else {
            throw KeyLifeRefusal(
                "\(board.proposals.count) proposals wait for a decision, which is the most that there can be. Approve or reject "
                    + "one first: privyseal keys proposals.")
        }
        return free
    }

    /// What needs no work on a token is done at once.
    ///
    /// - Parameter digest: of the proposal that the administrator has seen, see `KeyProposal.digest`.
    public func approve(
        _ id: String, digest: String, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try requireLoaded()
        let seen = try proposal(id)
        guard seen.action == .activate else {
            return try await inTurn { () throws(KeyLifeRefusal) in try await decide(on: id, digest, by: actor) }
        }
        return try await exclusively(seen.keyID) { () throws(KeyLifeRefusal) in
            _ = try approved(id, digest, by: actor)
            let proof = try await proof(for: KeyChangeOrder(seen))
            return try await inTurn { () throws(KeyLifeRefusal) in
                try await decide(on: id, digest, by: actor, with: proof)
            }
        }
    }

    /// The proposal as it is with the approval, if the administrator may give it.
    private func approved(
        _ id: String, _ digest: String, by actor: Administrator
    ) throws(KeyLifeRefusal) -> KeyProposal {
        var proposal = try self.proposal(id)
        guard proposal.approver == nil else { throw KeyLifeRefusal("The proposal \(id) is approved already.") }
        guard !proposal.proposingPerson.isSamePerson(as: actor) else {
            throw KeyLifeRefusal(
                "\(proposal.proposer) proposed it; another administrator has to approve. Two persons means two clients that "
                    + "have no token, certificate or uid in common.")
        }
        try require(actor, inAccount: proposal.issuerID)
        guard digest == proposal.digest else {
            throw KeyLifeRefusal(
                "The approval is for \(digest), and the proposal \(id) is \(proposal.digest). Look at it again: privyseal keys "
                    + "proposals.")
        }
        (proposal.approver, proposal.approverProofs) = (actor.name, actor.proofs)
        try requireStanding(of: proposal)
        return proposal
    }

    private func decide(
        on id: String, _ digest: String, by actor: Administrator, with proof: FreshProof? = nil
    ) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        let proposal = try approved(id, digest, by: actor)
        switch proposal.action {
        case .import, .generate, .destroy:
            let others = board.proposals.filter { $0.id != id }
            try await set(others + [proposal], .approved, proposal, by: actor.name, isOpen: true)
            return .proposed(proposal)
        default:
            return .done(
                try await perform(
                    KeyChangeOrder(proposal),
                    Hand(
                        actor: proposal.proposer, approver: actor.name, reason: proposal.reason, fulfils: proposal,
                        proof: proof)))
        }
    }

    public func reject(_ id: String, by actor: Administrator) async throws(KeyLifeRefusal) {
        try await inTurn { () throws(KeyLifeRefusal) in
            // Also one that has expired, and that the gateway has not forgotten yet.
            guard let proposal = board.proposals.first(where: { $0.id == id }) else { throw Self.noProposal(id) }
            try await close(proposal, .rejected, by: actor.name)
        }
    }

    func isOver(_ proposal: KeyProposal) -> Bool { audit.clock.isOver(board.deadline(of: proposal)) }

    func forgetExpiredProposals() async throws(KeyLifeRefusal) {
        for proposal in board.proposals where isOver(proposal) {
            try await close(proposal, .rejected, by: Self.gatewayName)
        }
    }

    /// Whether the administrator counts as one of two persons in the account.
    func require(_ actor: Administrator, inAccount issuerID: String) throws(KeyLifeRefusal) {
        guard actor.proofs.count <= Administrator.maximumProofs else {
            throw KeyLifeRefusal(
                "The client \(actor.name) has \(actor.proofs.count) tokens, certificates and uids. An administrator who proposes "
                    + "or approves has \(Administrator.maximumProofs) at most.")
        }
        guard !actor.isOperator || board.countsOperator(issuerID) else {
            throw KeyLifeRefusal(
                "The account has dualControl: {operator: false}: root and the gateway's own user do not count as an "
                    + "administrator there. Use the token or the certificate of a client.")
        }
    }

    /// Whether the persons of a proposal still count: the configuration may have changed since they proposed and approved.
    func requireStanding(of proposal: KeyProposal) throws(KeyLifeRefusal) {
        let clients = gateway.current.clients.clients
        for person in [proposal.proposingPerson, proposal.approvingPerson].compactMap(\.self) {
            let counts =
                person.isOperator
                ? board.countsOperator(proposal.issuerID)
                : clients.contains { $0.isAdministrator && $0.administrator.isSamePerson(as: person) }
            guard counts else {
                throw KeyLifeRefusal(
                    "\(person.name) has proposed or approved \(proposal.id), and does not count as an administrator of the account any "
                        + "more. Reject it, and propose it again: privyseal keys reject \(proposal.id).")
            }
        }
    }

    private func proposal(_ id: String) throws(KeyLifeRefusal) -> KeyProposal {
        guard let proposal = board.proposals.first(where: { $0.id == id }), !isOver(proposal) else {
            throw Self.noProposal(id)
        }
        return proposal
    }

    private static func noProposal(_ id: String) -> KeyLifeRefusal {
        KeyLifeRefusal(.unknown, "There is no proposal \(id): it was made use of, was rejected, or has expired.")
    }

    private func close(
        _ proposal: KeyProposal, _ event: LifeRecord.Event, by actor: String
    ) async throws(KeyLifeRefusal) {
        try await set(board.proposals.filter { $0.id != proposal.id }, event, proposal, by: actor, isOpen: false)
    }

    private func set(
        _ proposals: [KeyProposal], _ event: LifeRecord.Event, _ proposal: KeyProposal, by actor: String, isOpen: Bool
    ) async throws(KeyLifeRefusal) {
        try await register([registration(proposal, event, by: actor, isOpen: isOpen)])
        board.set(proposals: proposals)
    }

    /// What the register of a proposal holds from now on: the proposal, or `null` when it is no longer open.
    func registration(
        _ proposal: KeyProposal, _ event: LifeRecord.Event, by actor: String, isOpen: Bool
    ) -> Registration {
        let told = LifeRecord(proposal, event, by: actor)
        guard let slot = proposal.slot else {
            // Earlier versions kept one list of all proposals. It only gets shorter.
            let rest = board.proposals.filter { $0.slot == nil && $0.id != proposal.id } + (isOpen ? [proposal] : [])
            return (told, RegisterName.proposals, JSONWriter.list(rest))
        }
        return (
            told, RegisterName.proposal(slot), isOpen ? proposal.jsonBytes(capacity: 1024) : Array("null".utf8)
        )
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
            reason: proposal.reason, id: proposal.id,
            evidence: proposal.details.merging(["proposal": proposal.digest]) { detail, _ in detail })
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
