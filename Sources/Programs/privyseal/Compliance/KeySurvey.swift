import ComplianceReport
import GatewayConfiguration
import KeyLifecycle
import Signing
import SigningKit

/// Inspects every key of the configuration. Each backend is opened once, with one login; each key signs one proof.
struct KeySurvey {
    let configuration: GatewayConfiguration

    /// - Parameter lives: by key ID.
    func accounts(_ lives: [String: KeyLifecycleRecord]) async -> [AccountFindings] {
        var findings: [String: KeyFindings] = [:]
        let keys = configuration.keys
        for key in keys {
            findings[key.keyID] = KeyFindings(
                keyID: key.keyID, uri: "\(key.uri)", pinned: key.fingerprint, cryptoperiod: key.cryptoperiod,
                provenance: KeyProvenance(key.provenance), life: lives[key.keyID])
        }
        for key in keys {
            findings[key.keyID]?.replicas = key.uris.dropFirst().map { ReplicaFindings(uri: "\($0)") }
        }
        let places = keys.flatMap { key in
            key.addresses.enumerated().map { Place(key: key, number: $0.offset, address: $0.element) }
        }
        // One backend after the other: some tokens fail if they are opened in parallel.
        var inspected: Set<KeyLocator> = []
        for locator in places.map(\.address.locator) where inspected.insert(locator).inserted {
            await inspect(places.filter { $0.address.locator == locator }, at: locator, &findings)
        }
        return configuration.accounts.map { account in
            (account.issuerID, account.hasDualControl, account.keys.compactMap { findings[$0.keyID] })
        }
            + configuration.services.filter { $0.keysOf == nil }.map { service in
                (service.path, service.hasDualControl, service.keys.compactMap { findings[$0.keyID] })
            }
    }

    /// A place of a key; number 0 is its first.
    private struct Place {
        let key: GatewayConfiguration.Key
        let number: Int
        let address: KeyAddress

        func set(
            _ inspection: KeyFindings.Inspection, _ proof: KeyFindings.Proof, in findings: inout [String: KeyFindings]
        ) {
            if number == 0 {
                findings[key.keyID]?.inspection = inspection
                findings[key.keyID]?.proof = proof
            } else {
                findings[key.keyID]?.replicas[number - 1].inspection = inspection
                findings[key.keyID]?.replicas[number - 1].proof = proof
            }
        }
    }

    private func inspect(
        _ places: [Place], at locator: KeyLocator, _ findings: inout [String: KeyFindings]
    ) async {
        func provenance(_ place: Place) -> KeyProvenance { findings[place.key.keyID]?.knownProvenance ?? .unknown }
        do throws(KeyError) {
            let backend = try await open(locator)
            for place in places {
                let inspection = await inspect(place.address.selector, provenance(place), in: backend)
                place.set(inspection, await prove(place.address.selector, in: backend), in: &findings)
            }
            await backend.close()
        } catch {
            for place in places {
                let inspection = unseen(error, provenance(place), BuiltIns.keyBackend(for: locator.uri))
                place.set(inspection, .unavailable("\(error)"), in: &findings)
            }
        }
    }

    private func open(_ place: KeyLocator) async throws(KeyError) -> any KeyBackend {
        guard let type = BuiltIns.keyBackend(for: place.uri) else {
            throw .invalidURI("no key backend serves its scheme")
        }
        return try await type.open(place, in: configuration.environment(of: type, place))
    }

    private func inspect(
        _ selector: KeySelector, _ provenance: KeyProvenance, in backend: any KeyBackend
    ) async -> KeyFindings.Inspection {
        guard let inspecting = backend as? any KeyInspecting else { return .unsupported }
        do throws(KeyError) {
            let seen = try await inspecting.inspect(selector, provenance: provenance)
            return .seen(seen, at: Timestamp.now())
        } catch {
            return unseen(error, provenance, Swift.type(of: backend))
        }
    }

    private func unseen(
        _ error: KeyError, _ provenance: KeyProvenance, _ type: (any KeyBackend.Type)?
    ) -> KeyFindings.Inspection {
        let inspecting = type as? any KeyInspecting.Type
        return .unseen(error, checks: inspecting?.checks(provenance: provenance, uninspected: error) ?? [])
    }

    private func prove(_ selector: KeySelector, in backend: any KeyBackend) async -> KeyFindings.Proof {
        do throws(KeyError) {
            let signingKey = try await backend.key(selector)
            let digest = ProofOfPossession().digest
            let signature = try await signingKey.sign(digest)
            guard signingKey.publicKey.verifies(signature, of: digest) else { return .wrong }
            return .valid(at: Timestamp.now())
        } catch {
            return .unavailable("\(error)")
        }
    }
}
