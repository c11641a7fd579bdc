import ComplianceReport
import Crypto
import GatewayConfiguration
import SigningGateway
import SigningKit

/// Inspects every key of the configuration. Each backend is opened once, with one login; each key signs one proof.
struct KeySurvey {
    private let configuration: GatewayConfiguration

    init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
    }

    /// - Parameter lives: by key ID.
    func accounts(_ lives: [String: KeyLifecycleRecord]) async -> [AccountFindings] {
        let seen = await look()
        return configuration.accounts.map { account in
            AccountFindings(
                issuerID: account.issuerID, hasDualControl: account.hasDualControl,
                keys: account.keys.map { key in
                    let (inspection, proof) = seen[key.keyID] ?? (.unsupported, .unavailable("It was not inspected."))
                    return KeyFindings(
                        keyID: key.keyID, uri: "\(key.uri)", pinned: key.fingerprint, cryptoperiod: key.cryptoperiod,
                        provenance: .init(key.provenance), inspection: inspection, proof: proof, life: lives[key.keyID])
                })
        }
    }

    private typealias Look = (KeyFindings.Inspection, KeyFindings.Proof)

    private func look() async -> [String: Look] {
        var byPlace: [KeyLocator: [GatewayConfiguration.Key]] = [:]
        var places: [KeyLocator] = []
        for key in configuration.accounts.flatMap(\.keys) {
            if byPlace[key.address.locator] == nil { places.append(key.address.locator) }
            byPlace[key.address.locator, default: []].append(key)
        }
        var looks: [String: Look] = [:]
        // One after the other: some tokens fail if they are opened in parallel.
        for place in places {
            let keys = byPlace[place] ?? []
            do throws(KeyError) {
                let backend = try await open(place)
                for key in keys { looks[key.keyID] = await look(at: key, in: backend) }
                await backend.close()
            } catch {
                for key in keys { looks[key.keyID] = (.unseen(error), .unavailable("\(error)")) }
            }
        }
        return looks
    }

    private func open(_ place: KeyLocator) async throws(KeyError) -> any KeyBackend {
        guard let type = BuiltIns.keyBackends.first(where: { $0.scheme == place.uri.scheme }) else {
            throw .invalidURI("no key backend serves its scheme")
        }
        let settings = configuration.backends[type.scheme] ?? PluginSettings(defaultsOf: type.settings)
        return try await type.open(
            place, in: KeyBackendEnvironment(settings: settings, secrets: ConfigurationSnapshot.secrets))
    }

    private func look(at key: GatewayConfiguration.Key, in backend: any KeyBackend) async -> Look {
        (await inspect(key, in: backend), await prove(key, in: backend))
    }

    private func inspect(
        _ key: GatewayConfiguration.Key, in backend: any KeyBackend
    ) async -> KeyFindings.Inspection {
        guard let backend = backend as? any KeyInspecting else { return .unsupported }
        do throws(KeyError) {
            return .seen(try await backend.inspect(key.address.selector), at: ClockMonitor.systemTime())
        } catch {
            return .unseen(error)
        }
    }

    private func prove(_ key: GatewayConfiguration.Key, in backend: any KeyBackend) async -> KeyFindings.Proof {
        do throws(KeyError) {
            let signingKey = try await backend.key(key.address.selector)
            let digest = ProofOfPossession().digest
            let signature = try await signingKey.sign(digest)
            guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes),
                signingKey.publicKey.isValidSignature(parsed, for: digest)
            else { return .wrong }
            return .valid(at: ClockMonitor.systemTime())
        } catch {
            return .unavailable("\(error)")
        }
    }
}
