import AuditKit
import AuditLog
public import Signing
import SigningKit

extension KeyLifecycleService {
    func propose(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, details: [String: String], reason: String,
        by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyProposal {
        if let same = stateCache.proposals.first(where: {
            $0.isFor(action, issuerID: issuerID, keyID: keyID, details: details) && !isOver($0) && $0.approver == nil
        }) {
            throw KeyLifecycleRefusal(
                "\(same.proposer) has proposed that already, as \(same.id). Another administrator looks at it with privyseal "
                    + "keys proposals, and approves it: privyseal keys approve \(same.id) --digest \(same.digest).")
        }
        try await forgetExpiredProposals()
        // `isOver` compares with the same clock.
        let time = fleet?.clock.now ?? now
        let lifetime = account(issuerID)?.proposalLifetime ?? .seconds(86_400)
        let proposal = KeyProposal(
            id: Self.newID(), action: action, issuerID: issuerID, keyID: keyID, details: details, reason: reason,
            proposer: actor.name, proposerProofs: actor.proofs, proposed: time,
            expires: time.later(by: lifetime.components.seconds), registerNumber: try freeRegisterNumber(for: actor))
        try await set(proposal, isOpen: true, .proposed, by: actor.name)
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
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try requireLoaded()
        let order = KeyChangeOrder(try approved(id, digest, by: actor))
        await waitForEffects(inAccountOf: order.keyID)
        let answer = try await proven(order) { proof throws(KeyLifecycleRefusal) in
            let proposal = try approved(id, digest, by: actor)
            if [.import, .generate, .destroy].contains(proposal.action) {
                // The proposer carries it out.
                try await set(proposal, isOpen: true, .approved, by: actor.name)
                return .proposed(proposal)
            }
            return try await perform(
                KeyChangeOrder(proposal),
                ChangeContext(
                    actor: proposal.proposer, approver: actor.name, reason: proposal.reason, fulfils: proposal,
                    proof: proof))
        }
        return try await confirmed(answer)
    }

    /// The proposal with the approval. Throws if the administrator may not approve it. It has all conditions of an
    /// approval, and runs in the turn in which the approval or the change is recorded.
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

    public func reject(_ id: String, by actor: Administrator) async throws(KeyLifecycleRefusal) {
        try await inTurn { () throws(KeyLifecycleRefusal) in
            // This finds expired proposals, too.
            guard let proposal = stateCache.proposals.first(where: { $0.id == id }) else { throw Self.noProposal(id) }
            try await set(proposal, isOpen: false, .rejected, by: actor.name)
        }
    }

    func isOver(_ proposal: KeyProposal) -> Bool { isOver(stateCache.deadline(of: proposal)) }

    func forgetExpiredProposals() async throws(KeyLifecycleRefusal) {
        for proposal in stateCache.proposals where isOver(proposal) {
            try await set(proposal, isOpen: false, .rejected, by: Self.gatewayName)
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

    private func set(
        _ proposal: KeyProposal, isOpen: Bool, _ event: KeyLifecycleEntry.Event, by actor: String
    ) async throws(KeyLifecycleRefusal) {
        var transaction = RegisterTransaction()
        transaction.set(proposal, isOpen: isOpen, among: stateCache.proposals, event, by: actor)
        try await commit(transaction)
    }
}
