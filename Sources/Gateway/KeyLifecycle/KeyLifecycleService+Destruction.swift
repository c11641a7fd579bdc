import Signing
import SigningKit

/// Checks before and after a destruction. At its end, the key must be absent from all locations that the gateway knows.
extension KeyLifecycleService {
    /// Throws unless the order names all locations of the key. Otherwise an absent key would count as destroyed.
    ///
    /// - Parameter looks: one for each place of the order; empty if the state has changed since the check that decided
    ///   against a look.
    func requirePresence(_ order: ProvisioningOrder, _ looks: [ObservedKey]) throws(KeyLifecycleRefusal) {
        guard !looks.isEmpty else { throw Self.hasChanged(order.keyID) }
        let ring = gateway.current.ring
        let declared = handle(order.keyID)?.settings.uris.map(\.description) ?? []
        for (uri, look) in zip(order.uris, looks) {
            if let first = declared.first, !declared.contains(where: { ring.isSameConnection($0, uri) }) {
                throw KeyLifecycleRefusal(
                    "The configuration names \(order.keyID) at \(first), but the order has \(uri). An order must "
                        + "destroy a key where the gateway uses it. Give the URI of the configuration.")
            }
            let here = ring.handles.filter { handle in
                handle.settings.uris.contains { ring.isSameKey("\($0)", uri) }
            }.map(\.settings.keyID)
            try requireNoOther(order, uri, here, isKnown: here.contains(order.keyID))
            try requirePresence(order, at: uri, look, declared)
        }
        for place in declared where !order.uris.contains(where: { ring.isSameConnection(place, $0) }) {
            throw KeyLifecycleRefusal(
                "The configuration names \(order.keyID) also at \(place), and the order does not. An order must destroy a "
                    + "key at all of its places. Give all of them; or, if that token is lost, remove the place from the "
                    + "configuration and reload.")
        }
    }

    /// - Parameter declared: the places in the configuration.
    private func requirePresence(
        _ order: ProvisioningOrder, at uri: String, _ look: ObservedKey, _ declared: [String]
    ) throws(KeyLifecycleRefusal) {
        let known = stateCache.records[order.keyID]
        switch look {
        case .present(let found?, _):
            let (records, expected) = (rules.records, known?.fingerprint ?? order.fingerprint)
            let same = records.values.filter { $0.fingerprint == found }.map(\.keyID)
            try requireNoOther(order, uri, same, isKnown: records[order.keyID]?.fingerprint == found)
            guard let expected, found != expected else { return }
            throw KeyLifecycleRefusal(
                "The key at \(uri) is not \(order.keyID): its fingerprint is \(found), not \(expected).")
        case .present(nil, _): return
        case .unfit, .absent:
            // A destruction may replace an open job, whose work may have reached the token or not.
            let open = stateCache.jobs.first { $0.keyID == order.keyID }?.uris ?? []
            let uris = declared + (known?.recordedURIs ?? []) + open
            guard uris.contains(where: { gateway.current.ring.isSameKey($0, uri) }) else {
                throw KeyLifecycleRefusal(
                    "The gateway sees no key at \(uri). Give the URI that the configuration has for \(order.keyID).")
            }
        case .unavailable(let reason):
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but cannot look at \(uri): \(reason)")
        case .unknownConnection:
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but its configuration names no key on the "
                    + "token of \(uri). Add \(order.keyID) to the configuration and reload: privyseal reload.")
        }
    }

    /// Refuses to destroy a key under the ID of another one, because the rules are asked about the ID in the order.
    ///
    /// - Parameters:
    ///   - keyIDs: the IDs of the key at the URI.
    ///   - isKnown: whether the ID of the order is one of them. The key then has several IDs, and all lose it.
    private func requireNoOther(
        _ order: ProvisioningOrder, _ uri: String, _ keyIDs: [String], isKnown: Bool
    ) throws(KeyLifecycleRefusal) {
        for keyID in keyIDs where keyID != order.keyID {
            guard isKnown else {
                throw KeyLifecycleRefusal(
                    "The key at \(uri) is \(keyID), not \(order.keyID). Destroy it under its own ID: privyseal keys "
                        + "destroy \(keyID).")
            }
            if let record = stateCache.records[keyID], record.state != .destroyed {
                try rules.requireDestructible(record)
            }
        }
    }

    /// Throws unless the gateway sees that no key is at this place of the order.
    func requireAbsence(of keyID: String, at uri: String) async throws(KeyLifecycleRefusal) {
        switch await gateway.current.ring.look(for: keyID, at: uri, isProofWanted: false) {
        case .absent: return
        case .present, .unfit:
            throw KeyLifecycleRefusal("The gateway still sees a key at \(uri). Run the same command again.")
        case .unavailable(let reason):
            throw KeyLifecycleRefusal(
                "The gateway cannot look at \(uri): \(reason) Run the same command again later.")
        case .unknownConnection:
            throw KeyLifecycleRefusal(
                "The gateway's configuration names no key on the token of \(uri), so the gateway cannot verify that "
                    + "\(keyID) is gone. Add a key on it, reload, and run the same command again.")
        }
    }

    /// Throws if the gateway sees the key, or cannot look. An administrator may have renamed it or destroyed another
    /// object. So the gateway also looks at the URIs of the configuration and the register, and checks that no open key
    /// signs a proof with it.
    func requireAbsence(_ job: ProvisioningJob) async throws(KeyLifecycleRefusal) {
        let (ring, record) = (gateway.current.ring, stateCache.records[job.keyID])
        let expected = record?.fingerprint ?? job.fingerprint
        let declared = handle(job.keyID)?.settings.uris.map(\.description) ?? []
        for uri in job.uris + declared + (record?.recordedURIs ?? []) {
            let isOrdered = job.uris.contains(uri)
            switch await ring.look(for: job.keyID, at: uri, isProofWanted: false) {
            case .absent: continue
            case .unknownConnection where !isOrdered: continue
            // Another key is at this URI now.
            case .present(let found?, _) where !isOrdered && expected != nil && found != expected: continue
            case .unfit(let reason) where isOrdered:
                throw KeyLifecycleRefusal(
                    "The gateway still sees an object at \(uri): \(reason) Run the same command again.")
            case .present, .unfit:
                throw KeyLifecycleRefusal(
                    isOrdered
                        ? "The gateway still sees a key at \(uri). Run the same command again."
                        : "The gateway sees no key at \(job.uri), but still sees one at \(uri). Destroy that object on "
                            + "the token, too, and run the same command again.")
            case .unavailable(let reason):
                throw KeyLifecycleRefusal(
                    "The gateway cannot look at \(uri): \(reason) Run the same command again later.")
            case .unknownConnection:
                throw KeyLifecycleRefusal(
                    "The gateway's configuration names no key on the token of \(uri), so the gateway cannot verify "
                        + "that \(job.keyID) is gone. Add a key on it, reload, and run the same command again.")
            }
        }
        for handle in ring.handles where handle.fingerprint != nil {
            guard expected == nil ? handle.settings.keyID == job.keyID : handle.fingerprint == expected else {
                continue
            }
            for replica in handle.replicas where replica.isOpen {
                try await requireNoProof(of: handle, at: replica, expected, job)
            }
        }
    }

    /// Throws if the key signs a proof at this place, or if the gateway cannot see whether it does.
    private func requireNoProof(
        of handle: KeyHandle, at replica: KeyReplica, _ expected: PublicKeyFingerprint?, _ job: ProvisioningJob
    ) async throws(KeyLifecycleRefusal) {
        let ring = gateway.current.ring
        // Do not ask a token for a key that is gone: its backend would search for the key again and again.
        if await ring.holdsNothing(of: expected, in: replica.connection) { return }
        guard let error = await handle.prove(at: replica) else {
            throw KeyLifecycleRefusal(
                "The gateway sees no key at \(job.uri), but \(handle.settings.keyID) still signs with the key: the "
                    + "object exists under another name. Destroy it, and run the same command again.")
        }
        switch error {
        case .notFound, .ambiguous, .unfit, .failed, .invalidURI, .invalidSetting: return
        case .busy, .cancelled: break
        case .unavailable, .closed, .secretUnavailable, .loginRefused, .loginBlocked:
            if case .absent = await ring.look(for: handle.settings.keyID, at: "\(replica.uri)", isProofWanted: false) {
                return
            }
        }
        throw KeyLifecycleRefusal(
            "The gateway cannot see whether \(handle.settings.keyID) still signs with the key: \(error) Run the same "
                + "command again later.")
    }
}
