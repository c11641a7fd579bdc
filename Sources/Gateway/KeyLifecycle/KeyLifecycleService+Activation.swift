import AuditKit
public import Signing
import SigningKit
import StrictJSON

extension KeyLifecycleService {
    /// How long a change waits for the entries of requests in progress.
    private static let drainTimeout = Duration.seconds(5)
    /// The default of `KeyChangeOrder.watch`, in seconds.
    private static let standardWatch = 300

    func activate(_ order: KeyChangeOrder, _ context: ChangeContext) async throws(KeyLifecycleRefusal)
        -> [KeyLifecycleRecord]
    {
        let (new, old) = try rules.activation(order)
        if let stop = stateCache.held[new.keyID] {
            throw KeyLifecycleRefusal(
                "The key \(new.keyID) is being stopped (\(stop.rawValue)). Look at its state first: privyseal keys show \(new.keyID)."
            )
        }
        let proven = try require(context.proof, of: new.keyID)
        try rules.requireOwnKey(proven, of: new.keyID, amongLostOnly: true)
        var changed = new
        changed.fingerprint = proven
        let records = try await changeOver(issuerID: new.issuerID, fulfilling: context.fulfils) {
            time -> [KeyLifecycleRecord] in
            let active = self.change(changed, to: .active, .activate, context, at: time)
            guard let old else { return [active] }
            let retireAt = time.later(by: Int64(clamping: order.overlap ?? 0))
            return [active, self.change(old, to: .retiring, .retire, context, at: time, retireAt: retireAt)]
        }
        if let old { watch(new.keyID, insteadOf: old.keyID, for: order.watch ?? Self.standardWatch) }
        return records
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
    func proof(for order: KeyChangeOrder) async throws(KeyLifecycleRefusal) -> FreshPossessionProof? {
        guard [.activate, .resume].contains(order.action), (try? rules.check(order)) != nil else { return nil }
        if order.action == .resume, try rules.resumption(order.keyID).1 != .active { return nil }
        return FreshPossessionProof(keyID: order.keyID, fingerprint: try await requireProof(of: order.keyID))
    }

    /// Throws unless the key that signed the proof would still sign. Call it inside `inTurn`.
    @discardableResult
    func require(_ proof: FreshPossessionProof?, of keyID: String) throws(KeyLifecycleRefusal) -> PublicKeyFingerprint {
        guard let proof, proof.keyID == keyID, let handle = handle(keyID), handle.fingerprint == proof.fingerprint,
            handle.state.canSign, stateCache.records[keyID]?.fingerprint ?? proof.fingerprint == proof.fingerprint
        else {
            throw KeyLifecycleRefusal(
                "The state of the keys changed while \(keyID) signed a fresh proof of possession; this order has "
                    + "changed nothing. Run the same command again.")
        }
        return proof.fingerprint
    }

    /// Signs a proof of possession now.
    @discardableResult
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

    func handle(_ keyID: String) -> KeyHandle? { gateway.current.ring.handles.first { $0.settings.keyID == keyID } }

    /// Signs and records a proof of possession that an administrator requested.
    public func prove(_ keyID: String, by actor: Administrator) async throws(KeyLifecycleRefusal) -> KeyLifecycleRecord
    {
        try requireLoaded()
        _ = try provable(keyID)
        let proof = FreshPossessionProof(keyID: keyID, fingerprint: try await requireProof(of: keyID))
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            var record = try provable(keyID)
            record.fingerprint = try require(proof, of: keyID)
            var entry = record.lifecycleEntry
            entry.event = .proved
            (entry.action, entry.actor, entry.approver, entry.reason) = ("prove", actor.name, nil, nil)
            (entry.from, entry.to, entry.evidence) = (nil, nil, [:])
            try await register([(entry, RegisterName.key(keyID), JSONText.encode(record))])
            stateCache.set([record])
            return record
        }
    }

    private func provable(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let record = try rules.record(keyID)
        switch record.state {
        case .staged, .active, .retiring, .suspended: return record
        case .retired, .destroyed, .compromised:
            throw KeyLifecycleRefusal("The key \(keyID) is \(record.state.rawValue), and signs no proofs.")
        }
    }
}

/// A proof of possession that a key signed just before a change.
struct FreshPossessionProof: Sendable {
    let keyID: String
    let fingerprint: PublicKeyFingerprint
}
