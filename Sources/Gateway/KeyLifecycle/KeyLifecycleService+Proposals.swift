import AuditKit
import AuditLog
public import Signing
import SigningKit
import StrictJSON

extension KeyLifecycleService {
    func propose(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, details: [String: String], reason: String,
        by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyProposal {
        let time = now
        if let same = stateCache.proposals.first(where: {
            $0.isFor(action, issuerID: issuerID, keyID: keyID, details: details) && !isOver($0) && $0.approver == nil
        }) {
            throw KeyLifecycleRefusal(
                "\(same.proposer) has proposed that already, as \(same.id). Another administrator approves it: privyseal keys "
                    + "approve \(same.id).")
        }
        try await forgetExpiredProposals()
        let lifetime = account(issuerID)?.proposalLifetime ?? .seconds(86_400)
        var proposal = KeyProposal(
            id: Self.newID(), action: action, issuerID: issuerID, keyID: keyID, details: details, reason: reason,
            proposer: actor.name, proposerProofs: actor.proofs, proposed: time,
            expires: time.later(by: lifetime.components.seconds))
        stateCache.noteDeadlines([], [proposal], at: audit.clock.stepped)
        proposal.registerNumber = try freeRegisterNumber(for: actor)
        try await set(stateCache.proposals + [proposal], .proposed, proposal, by: actor.name, isOpen: true)
        return proposal
    }

    /// The number of a free proposal register.
    private func freeRegisterNumber(for actor: Administrator) throws(KeyLifecycleRefusal) -> Int {
        let own = stateCache.proposals.filter { $0.proposingPerson.isSamePerson(as: actor) }
        guard own.count < KeyLifecycleLimits.proposalsOfOne else {
            throw KeyLifecycleRefusal(
                "\(actor.name) has \(own.count) undecided proposals, which is the most that one administrator can "
                    + "have. Reject one first, with privyseal keys reject.")
        }
        let taken = Set(stateCache.proposals.compactMap(\.registerNumber))
        guard stateCache.proposals.count < KeyLifecycleLimits.proposals,
            let free = (0..<KeyLifecycleLimits.proposals).first(where: { !taken.contains($0) })
        else {
            throw KeyLifecycleRefusal(
                "\(stateCache.proposals.count) proposals wait for a decision, which is the limit. Approve or reject "
                    + "one first: privyseal keys proposals.")
        }
        return free
    }

    /// Approves a proposal. A change that needs no work on a token is carried out at once.
    ///
    /// - Parameter digest: the `KeyProposal.digest` that the administrator has seen.
    public func approve(
        _ id: String, digest: String, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        try requireLoaded()
        let seen = try proposal(id)
        guard seen.action == .activate else {
            return try await inTurn { () throws(KeyLifecycleRefusal) in try await decide(on: id, digest, by: actor) }
        }
        return try await exclusively(seen.keyID) { () throws(KeyLifecycleRefusal) in
            _ = try approved(id, digest, by: actor)
            let proof = try await proof(for: KeyChangeOrder(seen))
            return try await inTurn { () throws(KeyLifecycleRefusal) in
                try await decide(on: id, digest, by: actor, with: proof)
            }
        }
    }

    /// The proposal with the approval. Throws if the administrator may not approve it.
    private func approved(
        _ id: String, _ digest: String, by actor: Administrator
    ) throws(KeyLifecycleRefusal) -> KeyProposal {
        var proposal = try self.proposal(id)
        guard proposal.approver == nil else { throw KeyLifecycleRefusal("The proposal \(id) is approved already.") }
        guard !proposal.proposingPerson.isSamePerson(as: actor) else {
            throw KeyLifecycleRefusal(
                "\(proposal.proposer) proposed it, so another administrator has to approve it. Two clients count as "
                    + "two persons if they have no token, certificate or uid in common.")
        }
        try require(actor, inAccount: proposal.issuerID)
        guard digest == proposal.digest else {
            throw KeyLifecycleRefusal(
                "The approval is for \(digest), but the proposal \(id) is \(proposal.digest). Look at it again: "
                    + "privyseal keys proposals.")
        }
        (proposal.approver, proposal.approverProofs) = (actor.name, actor.proofs)
        try requireStanding(of: proposal)
        return proposal
    }

    private func decide(
        on id: String, _ digest: String, by actor: Administrator, with proof: FreshPossessionProof? = nil
    ) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        let proposal = try approved(id, digest, by: actor)
        switch proposal.action {
        case .import, .generate, .destroy:
            let others = stateCache.proposals.filter { $0.id != id }
            try await set(others + [proposal], .approved, proposal, by: actor.name, isOpen: true)
            return .proposed(proposal)
        default:
            return .done(
                try await perform(
                    KeyChangeOrder(proposal),
                    ChangeContext(
                        actor: proposal.proposer, approver: actor.name, reason: proposal.reason, fulfils: proposal,
                        proof: proof)))
        }
    }

    public func reject(_ id: String, by actor: Administrator) async throws(KeyLifecycleRefusal) {
        try await inTurn { () throws(KeyLifecycleRefusal) in
            // This finds expired proposals, too.
            guard let proposal = stateCache.proposals.first(where: { $0.id == id }) else { throw Self.noProposal(id) }
            try await close(proposal, .rejected, by: actor.name)
        }
    }

    func isOver(_ proposal: KeyProposal) -> Bool { audit.clock.isOver(stateCache.deadline(of: proposal)) }

    func forgetExpiredProposals() async throws(KeyLifecycleRefusal) {
        for proposal in stateCache.proposals where isOver(proposal) {
            try await close(proposal, .rejected, by: Self.gatewayName)
        }
    }

    /// Throws unless the administrator counts for dual control in the account.
    func require(_ actor: Administrator, inAccount issuerID: String) throws(KeyLifecycleRefusal) {
        guard actor.proofs.count <= Administrator.maximumProofs else {
            throw KeyLifecycleRefusal(
                "The client \(actor.name) has \(actor.proofs.count) tokens, certificates and uids. An administrator who proposes "
                    + "or approves may have at most \(Administrator.maximumProofs).")
        }
        guard !actor.isOperator || stateCache.countsOperator(issuerID) else {
            throw KeyLifecycleRefusal(
                "The account has dualControl: {operator: false}: root and the gateway's own user do not count as an "
                    + "administrator there. Use the token or the certificate of a client.")
        }
    }

    /// Throws unless the persons of a proposal still count. The configuration may have changed since they decided.
    func requireStanding(of proposal: KeyProposal) throws(KeyLifecycleRefusal) {
        let clients = gateway.current.clients.clients
        for person in [proposal.proposingPerson, proposal.approvingPerson].compactMap(\.self) {
            let counts =
                person.isOperator
                ? stateCache.countsOperator(proposal.issuerID)
                : clients.contains { $0.isAdministrator && $0.administrator.isSamePerson(as: person) }
            guard counts else {
                throw KeyLifecycleRefusal(
                    "\(person.name) proposed or approved \(proposal.id), but no longer counts as an administrator of "
                        + "the account. Reject it, and propose it again: privyseal keys reject \(proposal.id).")
            }
        }
    }

    private func proposal(_ id: String) throws(KeyLifecycleRefusal) -> KeyProposal {
        guard let proposal = stateCache.proposals.first(where: { $0.id == id }), !isOver(proposal) else {
            throw Self.noProposal(id)
        }
        return proposal
    }

    private static func noProposal(_ id: String) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(.unknown, "There is no proposal \(id): it was used, was rejected, or has expired.")
    }

    private func close(
        _ proposal: KeyProposal, _ event: KeyLifecycleEntry.Event, by actor: String
    ) async throws(KeyLifecycleRefusal) {
        try await set(stateCache.proposals.filter { $0.id != proposal.id }, event, proposal, by: actor, isOpen: false)
    }

    private func set(
        _ proposals: [KeyProposal], _ event: KeyLifecycleEntry.Event, _ proposal: KeyProposal, by actor: String,
        isOpen: Bool
    ) async throws(KeyLifecycleRefusal) {
        try await register([registration(proposal, event, by: actor, isOpen: isOpen)])
        stateCache.set(proposals: proposals)
    }

    /// The new value of a proposal's register: the proposal, or `null` if it is no longer open.
    func registration(
        _ proposal: KeyProposal, _ event: KeyLifecycleEntry.Event, by actor: String, isOpen: Bool
    ) -> Registration {
        let entry = KeyLifecycleEntry(proposal, event, by: actor)
        guard let registerNumber = proposal.registerNumber else {
            // Earlier versions kept all proposals in one list. It only gets shorter.
            let rest =
                stateCache.proposals.filter { $0.registerNumber == nil && $0.id != proposal.id }
                + (isOpen ? [proposal] : [])
            return (entry, RegisterName.proposals, JSONText.encode(rest))
        }
        return (
            entry, RegisterName.proposal(registerNumber),
            JSONText.encode(isOpen ? proposal : nil)
        )
    }

    /// A random ID that is short enough to be read aloud.
    static func newID() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<8).compactMap { _ in letters.randomElement(using: &random) })
    }
}

extension KeyLifecycleEntry {
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
