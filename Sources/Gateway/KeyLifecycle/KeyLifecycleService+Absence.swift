import Signing
import SigningKit

/// Checks of a destruction: the key must be absent from all locations that the gateway knows.
extension KeyLifecycleService {
    /// Throws if the key still exists. An administrator may have renamed it or destroyed another object. So the gateway
    /// also looks at the URIs of the configuration and the register, and checks that no open key signs a proof with it.
    func requireAbsence(_ job: ProvisioningJob) async throws(KeyLifecycleRefusal) {
        let (ring, record) = (gateway.current.ring, stateCache.records[job.keyID])
        let expected = record?.fingerprint ?? job.fingerprint
        let recorded = record?.history.last { $0.evidence["uri"] != nil }?.evidence["uri"]
        for uri in [handle(job.keyID).map { "\($0.settings.uri)" }, recorded].compactMap(\.self) {
            switch await ring.look(for: job.keyID, at: uri, isProofWanted: false) {
            case .absent, .unknownConnection: continue
            // Another key is at this URI now.
            case .present(let found?, _) where expected != nil && found != expected: continue
            case .present, .unfit:
                throw KeyLifecycleRefusal(
                    "The gateway sees no key at \(job.uri), but still sees one at \(uri). Destroy that object on the "
                        + "token, too, and run the same command again.")
            case .unavailable(let reason):
                throw KeyLifecycleRefusal(
                    "The gateway cannot look at \(uri): \(reason) Run the same command again later.")
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
            if await isInconclusive(error, for: handle, in: ring) {
                throw KeyLifecycleRefusal(
                    "The gateway cannot see whether \(handle.settings.keyID) still signs with the key: \(error) Run the same "
                        + "command again later.")
            }
        }
    }

    /// Whether the key may be there although it signed no proof.
    private func isInconclusive(_ error: KeyError, for handle: KeyHandle, in ring: KeyRing) async -> Bool {
        switch error {
        case .notFound, .ambiguous, .unfit, .failed, .invalidURI, .invalidSetting: return false
        case .busy, .cancelled: return true
        case .unavailable, .closed, .secretUnavailable, .loginRefused, .loginBlocked:
            let look = await ring.look(
                for: handle.settings.keyID, at: "\(handle.settings.uri)", isProofWanted: false)
            if case .absent = look { return false }
            return true
        }
    }
}
