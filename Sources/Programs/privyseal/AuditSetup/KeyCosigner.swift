import AuditLog
import Crypto
import GatewayConfiguration
import SigningKit
import Synchronization
import TransparencyLog

/// Signs checkpoints with a P-256 key, for example on a token. An attacker with the log's own key cannot forge them.
final class KeyCosigner: CheckpointCosigner {
    private let cosigner: GatewayConfiguration.KeyLocation
    private let name: String
    private let environment: KeyBackendEnvironment
    private let open = Mutex<(backend: any KeyBackend, key: any SigningKey)?>(nil)
    /// A refused PIN is not tried again.
    private let refusal = Mutex<KeyError?>(nil)

    /// - Parameter name: the key's name in its signatures.
    init(
        _ cosigner: GatewayConfiguration.KeyLocation, name: String, environment: KeyBackendEnvironment
    ) {
        self.cosigner = cosigner
        self.name = name
        self.environment = environment
    }

    func signature(for text: String) async throws -> NoteSignature {
        let verifier = try await verifier()
        let signature = try await key().sign(SHA256.hash(data: Array(text.utf8)))
        // The checkpoint itself is the record.
        SignatureCounts.shared.settle()
        return try NoteSignature(name: name, keyID: verifier.keyID, bytes: signature.derRepresentation)
    }

    /// The public key under the name of its signatures.
    func verifier() async throws -> NoteVerifier { try NoteVerifier(name: name, p256: try await key().publicKey) }

    private func key() async throws(KeyError) -> any SigningKey {
        if let key = open.withLock({ $0?.key }) { return key }
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        guard let type = BuiltIns.keyBackend(for: cosigner.uri) else {
            throw .invalidURI("no key backend serves its scheme")
        }
        do throws(KeyError) {
            let backend = try await type.open(cosigner.address.locator, in: environment)
            let key: any SigningKey
            do throws(KeyError) { key = try await backend.key(cosigner.address.selector) } catch {
                await backend.close()
                throw error
            }
            open.withLock { $0 = (backend, key) }
            return key
        } catch {
            if error.concernsLogin { refusal.withLock { $0 = error } }
            throw error
        }
    }

    func close() async {
        let backend = open.withLock { open in
            defer { open = nil }
            return open?.backend
        }
        await backend?.close()
    }
}
