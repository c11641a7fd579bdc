import Signing
import SigningKit

/// What the gateway sees of the key of a provisioning job.
enum ObservedKey {
    /// - Parameters:
    ///   - fingerprint: nil if the backend does not show the public key.
    ///   - facts: properties of the key and of its token by name, in the form of evidence.
    case present(fingerprint: PublicKeyFingerprint?, facts: [String: String])
    /// The URI matches something that is not one key that signs. The value is a sentence.
    case unfit(String)
    case absent
    /// The backend does not answer. The value is a sentence.
    case unavailable(String)
    /// The configuration has no key at that location, so the gateway has no PIN for it.
    case unknownConnection
}

extension KeyRing {
    /// Looks for a key through a connection of the configuration.
    ///
    /// - Parameters:
    ///   - uri: may lack the attributes that lead to a secret, because the connection has the PIN.
    ///   - isProofWanted: whether the key has to sign a proof of possession.
    ///   - publicKey: in X9.63 form, for a token that does not hold it, if the configuration does not have it.
    func look(
        for keyID: String, at uri: String, isProofWanted: Bool, publicKey: [UInt8]? = nil
    ) async -> ObservedKey {
        guard let address = shownAddress(of: uri), let connection = connection(of: address) else {
            return .unknownConnection
        }
        var selector = address.selector
        selector.publicKey = handles.first { $0.settings.keyID == keyID }?.settings.publicKey ?? publicKey
        let wanted = selector
        return await opening.pass {
            do throws(KeyError) {
                return try await Self.look(for: wanted, in: try await connection.backend(), isProofWanted)
            } catch {
                return .unavailable("\(error)")
            }
        }
    }

    /// The connection for a URI; nil if the configuration has no key at its location.
    func connection(of uri: String) -> BackendConnection? { shownAddress(of: uri).flatMap(connection) }

    private func connection(of address: KeyAddress) -> BackendConnection? {
        handles.first { shownAddress(of: $0.settings.uri)?.locator == address.locator }?.connection
    }

    private func shownAddress(of uri: String) -> KeyAddress? { (try? KeyURI(uri)).flatMap(shownAddress) }

    /// Whether both URIs name the same key at the same location. PIN attributes do not count.
    func isSameKey(_ one: KeyURI, _ other: KeyURI) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address == shownAddress(of: other)
    }

    /// Whether the backend shows that it has no private key, or only one with another fingerprint.
    func holdsNothing(of expected: PublicKeyFingerprint?, in connection: BackendConnection?) async -> Bool {
        guard let connection, let type = type(for: connection.locator.uri.scheme),
            let all = try? type.address(of: connection.locator.uri).selector
        else { return false }
        return await opening.pass {
            guard let backend = try? await connection.backend() as? any KeyInspecting,
                let seen = try? await backend.inspect(all)
            else { return false }
            guard seen.matches == 1, let expected, let found = seen.fingerprint else { return seen.matches == 0 }
            return found != expected
        }
    }

    /// Whether both URIs name the same location. PIN and key attributes do not count.
    func isSameConnection(_ one: KeyURI, _ other: KeyURI) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address.locator == shownAddress(of: other)?.locator
    }

    /// The address without attributes that lead to a secret.
    private func shownAddress(of uri: KeyURI) -> KeyAddress? {
        guard let type = type(for: uri.scheme), let shown = try? KeyURI("\(uri)") else { return nil }
        return try? type.address(of: shown)
    }

    private static func look(
        for selector: KeySelector, in backend: any KeyBackend, _ isProofWanted: Bool
    ) async throws(KeyError) -> ObservedKey {
        var fingerprint: PublicKeyFingerprint?
        var facts: [String: String] = [:]
        let inspecting = backend as? any KeyInspecting
        if let inspecting {
            let inspection = try await inspecting.inspect(selector)
            guard inspection.matches > 0 else { return .absent }
            guard inspection.matches == 1 else { return .unfit("\(inspection.matches) keys match its URI.") }
            fingerprint = inspection.fingerprint
            facts = inspection.evidence.filter { $0.value.utf8.count <= KeyLifecycleLimits.evidenceValue }
            guard isProofWanted else { return .present(fingerprint: fingerprint, facts: facts) }
        }
        do throws(KeyError) {
            let key = try await backend.key(selector)
            let digest = ProofOfPossession().digest
            let signature = try await key.sign(digest)
            guard SignatureVerifier(key.publicKey, mode: .always).isValid(signature, for: digest) else {
                return .unfit("Its signature does not verify.")
            }
            if let serial = key.tokenSerial { facts["tokenSerial"] = serial }
            facts["proof"] = "signed for the gateway"
            return .present(fingerprint: PublicKeyFingerprint(of: key.publicKey), facts: facts)
        } catch {
            switch error {
            case .notFound:
                // The inspection found the key, so the backend has not noticed its return yet.
                if inspecting != nil { throw error }
                return .absent
            case .unfit, .ambiguous, .failed: return .unfit("\(error)")
            case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .busy, .cancelled,
                .closed, .unavailable:
                throw error
            }
        }
    }
}

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
