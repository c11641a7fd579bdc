import AuditKit
public import Signing
import SigningKit

extension KeyLifecycleService {
    /// How long a change waits for the entries of requests in progress.
    static let drainTimeout = Duration.seconds(5)
    /// The default of `KeyChangeOrder.watch`, in seconds.
    static let standardWatch = 300

    func activate(
        _ order: KeyChangeOrder, _ step: KeyLifecycleRules.Transition, _ context: ChangeContext
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        var new = step.record
        if let stop = stateCache.held[new.keyID] {
            throw KeyLifecycleRefusal(
                "The key \(new.keyID) is being stopped (\(stop.rawValue)). Look at its state first: privyseal keys show \(new.keyID)."
            )
        }
        let proven = try require(context.proof, of: new.keyID)
        try rules.requireOwnKey(proven, of: new.keyID, amongLostOnly: true)
        if let fleet { return .activating(try await open(order, step, context, proven, in: fleet)) }
        new.fingerprint = proven
        let records = try await changeOver(issuerID: new.issuerID, fulfilling: context.fulfils) {
            time -> [KeyLifecycleRecord] in
            let active = self.change(new, to: .active, .activate, context, at: time)
            guard let old = step.replaced else { return [active] }
            let retireAt = time.later(by: Int64(clamping: order.overlap ?? 0))
            return [active, self.change(old, to: .retiring, .retire, context, at: time, retireAt: retireAt)]
        }
        if let old = step.replaced { watch(new.keyID, insteadOf: old.keyID, for: order.watch ?? Self.standardWatch) }
        return .done(records)
    }

    /// In the log, entries with the old key precede the change, and entries with the new key follow it. Requests that
    /// name no key wait for the few milliseconds of the transaction.
    func changeOver(
        issuerID: String, fulfilling proposal: KeyProposal? = nil,
        _ changes: (_ time: Timestamp) -> [KeyLifecycleRecord]
    ) async throws(KeyLifecycleRefusal) -> [KeyLifecycleRecord] {
        let life = stateCache.account(issuerID)
        defer { life.open() }
        guard await life.shut(timeout: Self.drainTimeout) else {
            throw KeyLifecycleRefusal(
                "Requests in progress did not end within five seconds; nothing has changed. Check the active key and "
                    + "the audit log with privyseal status, and try again.")
        }
        // Entry times are in milliseconds. Wait until the clock is later than the last signature.
        let (last, end) = (now, ContinuousClock.now + .seconds(1))
        while now <= last {
            guard ContinuousClock.now < end else {
                throw KeyLifecycleRefusal(
                    "The clock of this machine runs backward; nothing has changed. Correct it, and try again.")
            }
            try? await Task.sleep(for: .microseconds(200))
        }
        return try await record(changes(now), fulfilling: proposal)
    }

    /// Signs the proof for a change. Call it outside `inTurn`, because a token may hang.
    ///
    /// - Returns: nil if the change needs no proof, or if the rules refuse it.
    func proof(for order: KeyChangeOrder) async throws(KeyLifecycleRefusal) -> PublicKeyFingerprint? {
        guard let step = try? rules.transition(order), step.state == .active else { return nil }
        return try await requireProof(of: order.keyID)
    }

    /// Throws unless the key that signed the proof would still sign. Call it inside `inTurn`.
    ///
    /// - Parameter proof: the result of `requireProof`.
    @discardableResult
    func require(_ proof: PublicKeyFingerprint?, of keyID: String) throws(KeyLifecycleRefusal) -> PublicKeyFingerprint {
        guard let proof, let handle = handle(keyID), handle.fingerprint == proof, handle.state.canSign,
            stateCache.records[keyID]?.fingerprint ?? proof == proof
        else {
            throw KeyLifecycleRefusal(
                "The state of the keys changed while \(keyID) signed a fresh proof of possession; this order has "
                    + "changed nothing. Run the same command again.")
        }
        return proof
    }

    /// Signs a proof of possession now.
    ///
    /// - Returns: the fingerprint of the key that signed it.
    func requireProof(of keyID: String) async throws(KeyLifecycleRefusal) -> PublicKeyFingerprint {
        guard let handle = handle(keyID) else {
            throw KeyLifecycleRefusal(
                "The configuration does not name the key \(keyID), so it cannot sign a proof. Add it and reload: privyseal reload."
            )
        }
        await gateway.current.ring.open(handle)
        guard let fingerprint = handle.fingerprint, handle.publicKey != nil else {
            throw KeyLifecycleRefusal(
                "The key \(keyID) cannot sign a proof of possession: \(handle.state.reason ?? handle.state.name)")
        }
        if let known = stateCache.records[keyID]?.fingerprint, known != fingerprint {
            throw KeyLifecycleRefusal(
                "The key \(keyID) is not the one in the register: its fingerprint is \(fingerprint), not \(known)."
            )
        }
        let begun = ContinuousClock.now
        await handle.prove()
        guard let age = handle.proofAge, age <= .now - begun, handle.state.canSign else {
            throw KeyLifecycleRefusal(
                "The key \(keyID) has not signed a fresh proof of possession: \(handle.state.reason ?? "It is busy.")"
            )
        }
        return fingerprint
    }

    /// Signs and records a proof of possession that an administrator requested.
    public func prove(_ keyID: String, by actor: Administrator) async throws(KeyLifecycleRefusal) -> KeyLifecycleRecord
    {
        try requireLoaded()
        _ = try provable(keyID)
        let proof = try await requireProof(of: keyID)
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            var record = try provable(keyID)
            record.fingerprint = try require(proof, of: keyID)
            let entry = KeyLifecycleEntry(
                .proved, action: "prove", issuerID: record.issuerID, keyID: keyID, actor: actor.name,
                retireAt: record.retireAt, fingerprint: record.fingerprint?.description)
            var transaction = RegisterTransaction()
            transaction.set(record, entry)
            try await commit(transaction)
            return record
        }
    }

    private func provable(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let record = try rules.record(keyID)
        guard [.staged, .active, .retiring, .suspended].contains(record.state) else {
            throw KeyLifecycleRefusal("The key \(keyID) is \(record.state.rawValue), and signs no proofs.")
        }
        return record
    }
}
