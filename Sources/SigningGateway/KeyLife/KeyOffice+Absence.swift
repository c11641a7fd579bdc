import SigningKit

/// A key is destroyed when nothing of it answers any more, wherever the gateway knows it to be.
extension KeyOffice {
    /// The backend must be able to show afterwards what was done. A key file cannot: its key is in memory while it is configured,
    /// and a file that is missing says nothing of its copies.
    func requireProvisioning(_ order: KeyCeremonyOrder) throws(KeyLifeRefusal) {
        guard order.action != .import, let uri = try? KeyURI(order.uri),
            !(gateway.current.ring.type(for: uri.scheme) is any KeyProvisioning.Type)
        else { return }
        throw KeyLifeRefusal(
            order.action == .destroy
                ? "Keys of \(uri.scheme): are not destroyed by an order. Retire \(order.keyID), take it out of the configuration, reload, "
                    + "and delete every copy of its file."
                : "Keys of \(uri.scheme): are not made by an order. Name a token, or import the key.")
    }

    /// The worker may have renamed the key, or destroyed another object: the places of the configuration and of the register are
    /// looked at, too, and an open key must not sign a proof.
    func requireAbsence(_ ceremony: KeyCeremony) async throws(KeyLifeRefusal) {
        let (ring, record) = (gateway.current.ring, board.records[ceremony.keyID])
        let expected = record?.fingerprint ?? ceremony.fingerprint
        let recorded = record?.history.last { $0.evidence["uri"] != nil }?.evidence["uri"]
        for uri in [slot(ceremony.keyID).map { "\($0.plan.uri)" }, recorded].compactMap(\.self) {
            switch await ring.look(for: ceremony.keyID, at: uri, isProofWanted: false) {
            case .absent, .unknownPlace: continue
            // Another key has taken the place.
            case .present(let found?, _) where expected != nil && found != expected: continue
            case .present, .unfit:
                throw KeyLifeRefusal(
                    "The gateway sees no key at \(ceremony.uri), but still sees one at \(uri). Destroy that object of the token, "
                        + "too, and run the same command again.")
            case .unavailable(let reason):
                throw KeyLifeRefusal("The gateway cannot look at \(uri): \(reason) Run the same command again later.")
            }
        }
        for slot in ring.slots where slot.fingerprint != nil {
            guard expected == nil ? slot.plan.keyID == ceremony.keyID : slot.fingerprint == expected else { continue }
            // To ask a token for a key that is gone makes its backend look for that key again and again.
            if await ring.holdsNothing(of: expected, in: slot.place) { continue }
            guard let error = await slot.prove() else {
                throw KeyLifeRefusal(
                    "The gateway sees no key at \(ceremony.uri), but \(slot.plan.keyID) still signs with it: the object is there "
                        + "under another name. Destroy it, and run the same command again.")
            }
            if await saysNothing(error, of: slot, in: ring) {
                throw KeyLifeRefusal(
                    "The gateway cannot see whether \(slot.plan.keyID) still signs with the key: \(error) Run the same command again "
                        + "later.")
            }
        }
    }

    /// Whether a proof that was not signed leaves open whether the key is there.
    private func saysNothing(
        _ error: KeyError, of slot: KeySlot, in ring: KeyRing
    ) async -> Bool {
        switch error {
        case .notFound, .ambiguous, .unfit, .failed, .invalidURI, .invalidSetting: return false
        case .busy, .cancelled: return true
        case .unavailable, .closed, .secretUnavailable, .loginRefused, .loginBlocked:
            let look = await ring.look(for: slot.plan.keyID, at: "\(slot.plan.uri)", isProofWanted: false)
            if case .absent = look { return false }
            return true
        }
    }
}
