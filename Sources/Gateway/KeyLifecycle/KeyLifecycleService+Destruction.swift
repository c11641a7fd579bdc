import Signing
import SigningKit

/// Checks before and after a destruction. At its end, the key must be absent from all locations that the gateway knows.
extension KeyLifecycleService {
    /// Throws unless the order names the location of the key. Otherwise an absent key would count as destroyed.
    ///
    /// - Parameter look: nil if the state has changed since the check that decided against a look.
    func requirePresence(_ order: ProvisioningOrder, _ look: ObservedKey?) throws(KeyLifecycleRefusal) {
        guard let look else { throw Self.hasChanged(order.keyID) }
        let (ring, known) = (gateway.current.ring, stateCache.records[order.keyID])
        let declared = handle(order.keyID)?.settings.uri.description
        if let declared, !ring.isSameConnection(declared, order.uri) {
            throw KeyLifecycleRefusal(
                "The configuration names \(order.keyID) at \(declared), but the order has \(order.uri). An order must "
                    + "destroy a key where the gateway uses it. Give the URI of the configuration.")
        }
        let here = ring.handles.filter { ring.isSameKey("\($0.settings.uri)", order.uri) }.map(\.settings.keyID)
        try requireNoOther(order, here, isKnown: here.contains(order.keyID))
        switch look {
        case .present(let found?, _):
            let (records, expected) = (rules.records, known?.fingerprint ?? order.fingerprint)
            let same = records.values.filter { $0.fingerprint == found }.map(\.keyID)
            try requireNoOther(order, same, isKnown: records[order.keyID]?.fingerprint == found)
            guard let expected, found != expected else { return }
            throw KeyLifecycleRefusal(
                "The key at \(order.uri) is not \(order.keyID): its fingerprint is \(found), not \(expected).")
        case .present(nil, _): return
        case .unfit, .absent:
            let uris = [declared, known?.recordedURI].compactMap(\.self)
            guard uris.contains(where: { ring.isSameKey($0, order.uri) }) else {
                throw KeyLifecycleRefusal(
                    "The gateway sees no key at \(order.uri). Give the URI that the configuration has for \(order.keyID)."
                )
            }
        case .unavailable(let reason):
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but cannot look at \(order.uri): \(reason)")
        case .unknownConnection:
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but its configuration names no key on the "
                    + "token of \(order.uri). Add \(order.keyID) to the configuration and reload: privyseal reload.")
        }
    }

    /// Refuses to destroy a key under the ID of another one, because the rules are asked about the ID in the order.
    ///
    /// - Parameters:
    ///   - keyIDs: the IDs of the key at the URI of the order.
    ///   - isKnown: whether the ID of the order is one of them. The key then has several IDs, and all lose it.
    private func requireNoOther(
        _ order: ProvisioningOrder, _ keyIDs: [String], isKnown: Bool
    ) throws(KeyLifecycleRefusal) {
        for keyID in keyIDs where keyID != order.keyID {
            guard isKnown else {
                throw KeyLifecycleRefusal(
                    "The key at \(order.uri) is \(keyID), not \(order.keyID). Destroy it under its own ID: privyseal keys "
                        + "destroy \(keyID).")
            }
            if let record = stateCache.records[keyID], record.state != .destroyed {
                try rules.requireDestructible(record)
            }
        }
    }

    /// Throws if the gateway sees the key, or cannot look. An administrator may have renamed it or destroyed another
    /// object. So the gateway also looks at the URIs of the configuration and the register, and checks that no open key
    /// signs a proof with it.
    func requireAbsence(_ job: ProvisioningJob) async throws(KeyLifecycleRefusal) {
        let (ring, record) = (gateway.current.ring, stateCache.records[job.keyID])
        let expected = record?.fingerprint ?? job.fingerprint
        for uri in [job.uri, handle(job.keyID).map { "\($0.settings.uri)" }, record?.recordedURI].compactMap(\.self) {
            let isOrdered = uri == job.uri
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
            // Do not ask a token for a key that is gone: its backend would search for the key again and again.
            if await ring.holdsNothing(of: expected, in: handle.connection) { continue }
            guard let error = await handle.prove() else {
                throw KeyLifecycleRefusal(
                    "The gateway sees no key at \(job.uri), but \(handle.settings.keyID) still signs with the key: the "
                        + "object exists under another name. Destroy it, and run the same command again.")
            }
            switch error {
            case .notFound, .ambiguous, .unfit, .failed, .invalidURI, .invalidSetting: continue
            case .busy, .cancelled: break
            case .unavailable, .closed, .secretUnavailable, .loginRefused, .loginBlocked:
                let uri = "\(handle.settings.uri)"
                if case .absent = await ring.look(for: handle.settings.keyID, at: uri, isProofWanted: false) {
                    continue
                }
            }
            throw KeyLifecycleRefusal(
                "The gateway cannot see whether \(handle.settings.keyID) still signs with the key: \(error) Run the same "
                    + "command again later.")
        }
    }
}
