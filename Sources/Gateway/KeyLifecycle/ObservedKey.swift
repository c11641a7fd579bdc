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
        handles.lazy.flatMap(\.replicas)
            .first { self.shownAddress(of: "\($0.uri)")?.locator == address.locator }?.connection
    }

    /// Whether both URIs name the same key at the same location. PIN attributes do not count.
    func isSameKey(_ one: String, _ other: String) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address == shownAddress(of: other)
    }

    /// Whether both URIs name the same location. PIN and key attributes do not count.
    func isSameConnection(_ one: String, _ other: String) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address.locator == shownAddress(of: other)?.locator
    }

    /// The address without attributes that lead to a secret.
    private func shownAddress(of uri: String) -> KeyAddress? {
        guard let uri = try? KeyURI(uri), let type = type(for: uri.scheme), let shown = try? KeyURI("\(uri)") else {
            return nil
        }
        return try? type.address(of: shown)
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
            SignatureCounts.shared.settle()
            guard key.publicKey.verifies(signature, of: digest) else {
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
