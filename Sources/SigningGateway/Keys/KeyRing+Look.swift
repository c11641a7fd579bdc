import SigningKit

/// What the gateway itself sees of a key that work on a token is about.
enum KeyLook {
    /// - Parameters:
    ///   - fingerprint: nil where the place does not show the public key.
    ///   - facts: what the place says of the key and of itself, by name, as evidence has it.
    case present(fingerprint: PublicKeyFingerprint?, facts: [String: String])
    /// Something answers to the URI, but it is not one key that signs; a sentence.
    case unfit(String)
    case absent
    /// The place does not answer; a sentence.
    case unavailable(String)
    /// No key of the configuration is in that place, so the gateway has no PIN for it.
    case unknownPlace
}

extension KeyRing {
    /// Looks for a key in a place of the configuration.
    ///
    /// - Parameters:
    ///   - uri: may lack what leads to a secret: the PIN is that of the keys in the same place.
    ///   - isProofWanted: whether the key has to sign a proof of possession.
    ///   - publicKey: in X9.63 form, for a token that does not hold it, where the configuration does not name it yet.
    func look(
        for keyID: String, at uri: String, isProofWanted: Bool, publicKey: [UInt8]? = nil
    ) async -> KeyLook {
        guard let address = shownAddress(of: uri), let place = place(of: address) else { return .unknownPlace }
        var selector = address.selector
        selector.publicKey = slots.first { $0.plan.keyID == keyID }?.plan.publicKey ?? publicKey
        let wanted = selector
        return await opening.pass {
            do throws(KeyError) {
                return try await Self.look(for: wanted, in: try await place.backend(), isProofWanted)
            } catch {
                return .unavailable("\(error)")
            }
        }
    }

    /// The place of a key, if the configuration names one there.
    func place(of uri: String) -> KeyPlace? { shownAddress(of: uri).flatMap(place) }

    private func place(of address: KeyAddress) -> KeyPlace? {
        slots.first { shownAddress(of: $0.plan.uri)?.locator == address.locator }?.place
    }

    private func shownAddress(of uri: String) -> KeyAddress? { (try? KeyURI(uri)).flatMap(shownAddress) }

    /// Whether both URIs name the same key in the same place; what they say of the PIN does not count.
    func isSameKey(_ one: KeyURI, _ other: KeyURI) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address == shownAddress(of: other)
    }

    /// Whether the place shows that it holds no private key, or a single one that is another key.
    func holdsNothing(of expected: PublicKeyFingerprint?, in place: KeyPlace?) async -> Bool {
        guard let place, let type = type(for: place.locator.uri.scheme),
            let all = try? type.address(of: place.locator.uri).selector
        else { return false }
        return await opening.pass {
            guard let backend = try? await place.backend() as? any KeyInspecting,
                let seen = try? await backend.inspect(all), let count = seen.objects?.uri
            else { return false }
            guard count == 1, let expected, let found = seen.fingerprint else { return count == 0 }
            return found != expected
        }
    }

    /// Whether both URIs name the same place; what they say of the PIN and of the key does not count.
    func isSamePlace(_ one: KeyURI, _ other: KeyURI) -> Bool {
        guard let address = shownAddress(of: one) else { return false }
        return address.locator == shownAddress(of: other)?.locator
    }

    /// The address without what leads to a secret.
    private func shownAddress(of uri: KeyURI) -> KeyAddress? {
        guard let type = type(for: uri.scheme), let shown = try? KeyURI("\(uri)") else { return nil }
        return try? type.address(of: shown)
    }

    private static func look(
        for selector: KeySelector, in backend: any KeyBackend, _ isProofWanted: Bool
    ) async throws(KeyError) -> KeyLook {
        var fingerprint: PublicKeyFingerprint?
        var facts: [String: String] = [:]
        let inspecting = backend as? any KeyInspecting
        if let inspecting {
            let inspection = try await inspecting.inspect(selector)
            // A file holds one key.
            let count = inspection.objects?.uri ?? 1
            guard count > 0 else { return .absent }
            guard count == 1 else { return .unfit("\(count) keys answer to its URI.") }
            (fingerprint, facts) = (inspection.fingerprint, inspection.facts)
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
                // The backend has not noticed yet that the key is back.
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

extension KeyInspection {
    /// As evidence has them.
    fileprivate var facts: [String: String] {
        var facts: [String: String] = [:]
        for attribute in attributes {
            guard let value = attribute.value, value.utf8.count <= KeyLifeLimits.evidenceValue else { continue }
            facts[attribute.name] = ["TRUE", "FALSE"].contains(value) ? value.lowercased() : value
        }
        if let token {
            (facts["tokenLabel"], facts["tokenSerial"], facts["tokenModel"]) = (token.label, token.serial, token.model)
        }
        return facts
    }
}
