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
        let keys = configuration.accounts.flatMap(\.keys)
        for key in keys {
            findings[key.keyID] = KeyFindings(
                keyID: key.keyID, uri: "\(key.uri)", pinned: key.fingerprint, cryptoperiod: key.cryptoperiod,
                provenance: KeyProvenance(key.provenance), life: lives[key.keyID])
        }
        // One backend after the other: some tokens fail if they are opened in parallel.
        var inspected: Set<KeyLocator> = []
        for place in keys.map(\.address.locator) where inspected.insert(place).inserted {
            await inspect(keys.filter { $0.address.locator == place }, at: place, &findings)
        }
        return configuration.accounts.map { account in
            (account.issuerID, account.hasDualControl, account.keys.compactMap { findings[$0.keyID] })
        }
    }

    private func inspect(
        _ keys: [GatewayConfiguration.Key], at place: KeyLocator, _ findings: inout [String: KeyFindings]
    ) async {
        do throws(KeyError) {
            let backend = try await open(place)
            for key in keys {
                let provenance = findings[key.keyID]?.knownProvenance ?? .unknown
                findings[key.keyID]?.inspection = await inspect(key, provenance, in: backend)
                findings[key.keyID]?.proof = await prove(key, in: backend)
            }
            await backend.close()
        } catch {
            for key in keys {
                let provenance = findings[key.keyID]?.knownProvenance ?? .unknown
                findings[key.keyID]?.inspection = unseen(error, provenance, Self.type(of: place))
                findings[key.keyID]?.proof = .unavailable("\(error)")
            }
        }
    }

    private static func type(of place: KeyLocator) -> (any KeyBackend.Type)? {
        BuiltIns.keyBackends.first { $0.scheme == place.uri.scheme }
    }

    private func open(_ place: KeyLocator) async throws(KeyError) -> any KeyBackend {
        guard let type = Self.type(of: place) else {
            throw .invalidURI("no key backend serves its scheme")
        }
        let settings = configuration.backends[type.scheme] ?? PluginSettings(defaultsOf: type.settings)
        return try await type.open(
            place, in: KeyBackendEnvironment(settings: settings, secrets: FileSecretSource()))
    }

    private func inspect(
        _ key: GatewayConfiguration.Key, _ provenance: KeyProvenance, in backend: any KeyBackend
    ) async -> KeyFindings.Inspection {
        guard let inspecting = backend as? any KeyInspecting else { return .unsupported }
        do throws(KeyError) {
            let seen = try await inspecting.inspect(key.address.selector, provenance: provenance)
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

    private func prove(_ key: GatewayConfiguration.Key, in backend: any KeyBackend) async -> KeyFindings.Proof {
        do throws(KeyError) {
            let signingKey = try await backend.key(key.address.selector)
            let digest = ProofOfPossession().digest
            let signature = try await signingKey.sign(digest)
            guard signingKey.publicKey.verifies(signature, of: digest) else { return .wrong }
            return .valid(at: Timestamp.now())
        } catch {
            return .unavailable("\(error)")
        }
    }
}
