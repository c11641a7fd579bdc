import AuditKit
import SigningKit
import StrictJSON

/// One key takes another's place while requests go on.
extension KeyOffice {
    /// Requests that are under way have so long to get their entries before the change.
    private static let drainPatience = Duration.seconds(5)
    /// How long a failure of the new key brings the old one back, where the order does not say.
    private static let standardWatch = 300

    func activate(_ order: KeyChangeOrder, _ hand: Hand) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        let (new, old) = try rules.activation(order)
        if let stop = board.held[new.keyID] {
            throw KeyLifeRefusal(
                "The key \(new.keyID) is being stopped (\(stop.rawValue)). Look at its state first: privyseal keys show \(new.keyID)."
            )
        }
        let proven = try require(hand.proof, of: new.keyID)
        try rules.requireOwnKey(proven, of: new.keyID, amongLostOnly: true)
        var changed = new
        changed.fingerprint = proven
        let records = try await changeOver(issuerID: new.issuerID, fulfilling: hand.fulfils) {
            time -> [KeyLifeRecord] in
            let active = self.change(changed, to: .active, .activate, hand, at: time)
            guard let old else { return [active] }
            let retireAt = time.later(by: Int64(clamping: order.overlap ?? 0))
            return [active, self.change(old, to: .retiring, .retire, hand, at: time, retireAt: retireAt)]
        }
        if let old { watch(new.keyID, insteadOf: old.keyID, for: order.watch ?? Self.standardWatch) }
        return records
    }

    /// Everything that bears the old key is in the log before the instant of the change, everything that bears the new one
    /// after it: requests that name no key wait for the few milliseconds of the transaction.
    func changeOver(
        issuerID: String, fulfilling proposal: KeyProposal? = nil,
        _ changes: (_ time: Timestamp) -> [KeyLifeRecord]
    ) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        let life = board.account(issuerID)
        defer { life.open() }
        guard await life.shut(patience: Self.drainPatience) else {
            throw KeyLifeRefusal(
                "Requests that were under way did not end within five seconds; nothing has changed. See how the active key "
                    + "and the audit log fare with privyseal status, and try again.")
        }
        // The times of entries have milliseconds: the next one is later than that of whatever was signed before.
        let (last, end) = (now, ContinuousClock.now + .seconds(1))
        while now <= last {
            guard ContinuousClock.now < end else {
                throw KeyLifeRefusal(
                    "The clock of this machine goes back; nothing has changed. Put it right, and try again.")
            }
            try? await Task.sleep(for: .microseconds(200))
        }
        return try await record(changes(now), fulfilling: proposal)
    }

    /// A proof for a change that needs one and that could be made now. Before the turn of the change, since a token may hang.
    ///
    /// - Returns: nil where the change needs none, or is refused anyway.
    func proof(for order: KeyChangeOrder) async throws(KeyLifeRefusal) -> FreshProof? {
        guard [.activate, .resume].contains(order.action), (try? rules.check(order)) != nil else { return nil }
        if order.action == .resume, try rules.resumption(order.keyID).1 != .active { return nil }
        return FreshProof(keyID: order.keyID, fingerprint: try await requireProof(of: order.keyID))
    }

    /// In the turn of the change: the key that signed the proof is still the one that would sign.
    ///
    /// - Returns: its fingerprint.
    @discardableResult
    func require(_ proof: FreshProof?, of keyID: String) throws(KeyLifeRefusal) -> PublicKeyFingerprint {
        guard let proof, proof.keyID == keyID, let slot = slot(keyID), slot.fingerprint == proof.fingerprint,
            slot.state.canSign, board.records[keyID]?.fingerprint ?? proof.fingerprint == proof.fingerprint
        else {
            throw KeyLifeRefusal(
                "The state of the keys changed while \(keyID) signed a fresh proof of possession; nothing has changed by this "
                    + "order. Run the same command again.")
        }
        return proof.fingerprint
    }

    /// A proof of possession that is signed now.
    ///
    /// - Returns: the fingerprint of the key that signed it.
    @discardableResult
    func requireProof(of keyID: String) async throws(KeyLifeRefusal) -> PublicKeyFingerprint {
        guard let slot = slot(keyID) else {
            throw KeyLifeRefusal(
                "The configuration does not name the key \(keyID), so it cannot sign a proof. Add it and reload: privyseal reload."
            )
        }
        await gateway.current.ring.open(slot)
        guard let fingerprint = slot.fingerprint, slot.publicKey != nil else {
            throw KeyLifeRefusal(
                "The key \(keyID) cannot sign a proof of possession: \(slot.state.reason ?? slot.state.name)")
        }
        if let known = board.records[keyID]?.fingerprint, known != fingerprint {
            throw KeyLifeRefusal(
                "The key \(keyID) is another one than the register knows: its fingerprint is \(fingerprint), not \(known)."
            )
        }
        let begun = ContinuousClock.now
        await slot.prove()
        guard let age = slot.proofAge, age <= .now - begun, slot.state.canSign else {
            throw KeyLifeRefusal(
                "The key \(keyID) has not signed a fresh proof of possession: \(slot.state.reason ?? "It has too much to do.")"
            )
        }
        return fingerprint
    }

    func slot(_ keyID: String) -> KeySlot? { gateway.current.ring.slots.first { $0.plan.keyID == keyID } }

    /// Has a key sign a proof because an administrator asks; recorded.
    public func prove(_ keyID: String, by actor: Administrator) async throws(KeyLifeRefusal) -> KeyLifeRecord {
        try requireLoaded()
        _ = try provable(keyID)
        let proof = FreshProof(keyID: keyID, fingerprint: try await requireProof(of: keyID))
        return try await inTurn { () throws(KeyLifeRefusal) in
            var record = try provable(keyID)
            record.fingerprint = try require(proof, of: keyID)
            var told = record.lifeRecord
            told.event = .proved
            (told.action, told.actor, told.approver, told.reason) = ("prove", actor.name, nil, nil)
            (told.from, told.to, told.evidence) = (nil, nil, [:])
            try await register([(told, RegisterName.key(keyID), record.jsonBytes(capacity: 1024))])
            board.set([record])
            return record
        }
    }

    private func provable(_ keyID: String) throws(KeyLifeRefusal) -> KeyLifeRecord {
        let record = try rules.record(keyID)
        switch record.state {
        case .staged, .active, .retiring, .suspended: return record
        case .retired, .destroyed, .compromised:
            throw KeyLifeRefusal("The key \(keyID) is \(record.state.rawValue), and signs no proofs either.")
        }
    }
}
