import AuditKit
public import Signing
import SigningKit

/// Provisioning jobs, which administrators carry out on tokens.
extension KeyLifecycleService {
    public func begin(
        _ order: ProvisioningOrder, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try Self.require(reason: order.reason)
        guard [.import, .generate, .destroy].contains(order.action) else {
            throw KeyLifecycleRefusal("\(order.action.rawValue) is not work on a token.")
        }
        let order = try order.checked()
        try requireLoaded()
        // Outside `inTurn`, because a token may hang.
        var looks: [ObservedKey] = []
        if try check(order) {
            for uri in order.uris {
                looks.append(await gateway.current.ring.look(for: order.keyID, at: uri, isProofWanted: false))
            }
        }
        let seen = looks
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            let known = stateCache.jobs.first { $0.keyID == order.keyID }
            guard order.continues == nil || order.continues == known?.id else {
                throw KeyLifecycleRefusal(
                    .changed,
                    "The work on \(order.keyID) that an earlier run began has ended meanwhile. privyseal keys show "
                        + "\(order.keyID) has its result.")
            }
            if try check(order) { try requirePresence(order, seen) }
            let proposal = try await approval(order, known, by: actor)
            if let proposal, proposal.approver == nil { return .proposed(proposal) }
            try await resetUnseenAdoption(order)
            // The same order again continues its job. A destruction replaces any other job of the key.
            let continued = known.flatMap { order.isSameWork(as: $0) ? $0 : nil }
            var job = if let continued { continued } else { try newJob(order, proposal, by: actor) }
            job.recordedRuns = (known?.runs ?? 0) + 1
            (job.worker, job.workerProofs, job.report) = (actor.name, actor.proofs, nil)
            // The administrator who approved a takeover must not carry out the job later.
            if continued != nil, let person = proposal?.approvingPerson { job.approverProofs += person.identities }
            var begun = KeyLifecycleEntry(job, .begun, by: actor.name)
            begun.approver = proposal?.approver ?? begun.approver
            var transaction = RegisterTransaction()
            if let known, continued == nil {
                let evidence = ["failure": "\(actor.name) ordered the destruction of the key instead."]
                transaction.set(
                    known, isOpen: false, among: stateCache.jobs,
                    KeyLifecycleEntry(known, .failed, by: actor.name, evidence: evidence))
            }
            transaction.set(job, isOpen: true, among: transaction.jobs ?? stateCache.jobs, begun)
            if let proposal {
                transaction.set(proposal, isOpen: false, among: stateCache.proposals, .approved, by: actor.name)
            }
            try await commit(transaction)
            return .begun(job)
        }
    }

    /// - Throws: a refusal if too many jobs are open.
    private func newJob(
        _ order: ProvisioningOrder, _ approved: KeyProposal?, by actor: Administrator
    ) throws(KeyLifecycleRefusal) -> ProvisioningJob {
        let open = stateCache.jobs
        let own = open.filter { $0.workingPerson.isSamePerson(as: actor) }
        guard open.count < KeyLifecycleLimits.jobs, own.count < KeyLifecycleLimits.jobsOfOne else {
            throw KeyLifecycleRefusal(
                "\(own.count) jobs of \(actor.name) on tokens have begun but not ended, \(open.count) in all; at most "
                    + "\(KeyLifecycleLimits.jobsOfOne) and \(KeyLifecycleLimits.jobs) are allowed. End one first.")
        }
        return ProvisioningJob(
            id: Self.newID(), action: order.action, issuerID: order.issuerID, keyID: order.keyID, uri: order.uri,
            replicas: order.replicas, fingerprint: order.fingerprint, reason: approved?.reason ?? order.reason,
            actor: approved?.proposer ?? actor.name, approver: approved?.approver,
            approverProofs: approved?.approverProofs ?? [], begun: now)
    }

    /// - Returns: whether the gateway must see the key before the job begins.
    private func check(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) -> Bool {
        guard account(order.issuerID) != nil || stateCache.records[order.keyID] != nil else {
            throw KeyLifecycleRefusal(
                .unknown,
                "There is no account \(order.issuerID) in the configuration. Add it first, or correct the issuer ID.")
        }
        try rules.job(order, seen: handle(order.keyID)?.fingerprint)
        try requireProvisioning(order)
        return isServing && order.action == .destroy && !stateCache.jobs.contains { order.isSameWork(as: $0) }
    }

    /// Throws unless the key backend can show the result afterwards. A key file cannot: the gateway holds its key in
    /// memory, and a missing file proves nothing about copies.
    private func requireProvisioning(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) {
        try requireOnePlace(order)
        let schemes = order.uris.compactMap { try? KeyURI($0).scheme }
        guard order.action != .import,
            let scheme = schemes.first(where: {
                !(gateway.current.ring.type(for: $0) is any KeyProvisioning.Type)
            })
        else { return }
        throw KeyLifecycleRefusal(
            order.action == .destroy
                ? "An order cannot destroy a \(scheme): key. Retire \(order.keyID), remove it from the "
                    + "configuration, reload, and delete every copy of its file."
                : "An order cannot make a \(scheme): key. Name a token, or import the key.")
    }

    /// Throws if a key with several places would be generated: the private key cannot leave the token that makes it.
    private func requireOnePlace(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) {
        guard order.action == .generate else { return }
        let count = max(order.uris.count, handle(order.keyID)?.replicas.count ?? 1)
        guard count > 1 else { return }
        throw KeyLifecycleRefusal(
            "A token generates a key that no other token can have, and \(order.keyID) has \(count) places. Remove its "
                + "replicas from the configuration and reload, or import one key into all of its places.")
    }

    /// Changes a key that was adopted as retiring, but never seen, to staged: it was not in use until now.
    private func resetUnseenAdoption(_ order: ProvisioningOrder) async throws(KeyLifecycleRefusal) {
        guard order.action != .destroy, let known = stateCache.records[order.keyID], known.state == .retiring,
            known.fingerprint == nil, known.history.allSatisfy({ $0.action == .adopt }),
            handle(order.keyID)?.publicKey == nil
        else { return }
        let context = ChangeContext(
            actor: Self.gatewayName, reason: "The configuration named it before it was brought in.")
        _ = try await record([change(known, to: .staged, .adopt, context)])
    }

    /// The conditions of dual control for a job.
    ///
    /// - Returns: the approved proposal, or a new one without an approver; nil if none is needed.
    private func approval(
        _ order: ProvisioningOrder, _ known: ProvisioningJob?, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyProposal? {
        // The administrator who does the work needs no approval to continue. A takeover by another one needs approval.
        let isContinued = known.map { order.isSameWork(as: $0) } ?? false
        let isOwn = known?.workingPerson.isSamePerson(as: actor) ?? true
        if isOwn, isContinued { return nil }
        guard stateCache.hasDualControl(order.issuerID) || !isOwn else { return nil }
        try require(actor, inAccount: order.issuerID)
        if isContinued, let approver = known?.approvingPerson, approver.isSamePerson(as: actor) {
            throw Self.isApprover(actor)
        }
        var details = order.details
        if let known { details["takesOver"] = known.id }
        guard
            let approved = stateCache.proposals.first(where: {
                $0.isFor(order.action, issuerID: order.issuerID, keyID: order.keyID, details: details)
                    && $0.approver != nil && !isOver($0)
            })
        else {
            return try await propose(
                order.action, issuerID: order.issuerID, keyID: order.keyID, details: details, reason: order.reason,
                by: actor)
        }
        try requireStanding(of: approved)
        if approved.approvingPerson?.isSamePerson(as: actor) == true { throw Self.isApprover(actor) }
        guard approved.proposingPerson.isSamePerson(as: actor) else {
            let proposed = known == nil ? "the work" : "to take over the work"
            throw KeyLifecycleRefusal(
                "\(approved.proposer) proposed \(proposed), and has to do it. If that is not possible, propose it again after "
                    + "privyseal keys reject \(approved.id).")
        }
        return approved
    }

    private static func isApprover(_ actor: Administrator) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(
            "\(actor.name) approved this work, and may not carry it out. Another administrator has to do that.")
    }
}

extension ProvisioningOrder {
    /// Checks the limits, and removes from the URI all attributes that lead to a secret.
    fileprivate func checked() throws(KeyLifecycleRefusal) -> ProvisioningOrder {
        try KeyLifecycleLimits.check(issuerID, "issuer ID", atMost: KeyLifecycleLimits.identifier)
        try KeyLifecycleLimits.check(keyID, "key ID", atMost: KeyLifecycleLimits.identifier)
        try KeyLifecycleLimits.check(uri, "URI", atMost: KeyLifecycleLimits.uri)
        guard replicas.count <= KeySettings.mostReplicas else {
            throw KeyLifecycleRefusal(
                "The order names \(replicas.count) further places; at most \(KeySettings.mostReplicas) are allowed.")
        }
        for replica in replicas { try KeyLifecycleLimits.check(replica, "URI", atMost: KeyLifecycleLimits.uri) }
        var order = self
        do throws(KeyError) {
            order.uri = try KeyURI(uri).description
            order.replicas = []
            for replica in replicas { order.replicas.append(try KeyURI(replica).description) }
        } catch {
            throw KeyLifecycleRefusal("\(error)")
        }
        guard Set(order.uris.map(ExactText.init)).count == order.uris.count else {
            throw KeyLifecycleRefusal("The order names a place twice. Name each place once.")
        }
        return order
    }

    /// Whether the order continues the job. The content must be the same, because an approved job must not change.
    func isSameWork(as job: ProvisioningJob) -> Bool {
        job.action == action && job.keyID.hasSameBytes(as: keyID)
            && job.issuerID.hasSameBytes(as: issuerID)
            && job.uris.map(ExactText.init) == uris.map(ExactText.init)
            && (job.fingerprint == fingerprint || action == .destroy)
    }

    /// The details that an approval covers.
    var details: [String: String] {
        var details = ["uri": uri]
        for (number, replica) in replicas.enumerated() { details["replica.\(number + 1)"] = replica }
        if let fingerprint { details["fingerprint"] = fingerprint.description }
        return details
    }
}
