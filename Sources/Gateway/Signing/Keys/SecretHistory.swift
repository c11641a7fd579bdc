import Crypto
import SigningKit
import Synchronization

/// Stores keyed hashes of the secrets of a connection, to detect whether a refused PIN has been replaced. A reload
/// alone does not retry a refused PIN.
final class SecretHistory: SecretSource {
    private let source: any SecretSource
    /// The key lives as long as this object, so the hashes are useless elsewhere.
    private let key = SymmetricKey(size: .bits256)
    private let seen = Mutex<[String: HMAC<SHA256>.MAC]>([:])

    init(_ source: any SecretSource) {
        self.source = source
    }

    func secret(_ reference: String) throws(KeyError) -> Secret {
        let secret = try source.secret(reference)
        let hash = hash(secret)
        seen.withLock { $0[reference] = hash }
        return secret
    }

    /// Whether any secret has changed since its last use. An unreadable secret counts as changed.
    var hasChanged: Bool {
        seen.withLock { $0 }.contains { reference, known in
            guard let secret = try? source.secret(reference) else { return true }
            return hash(secret) != known
        }
    }

    private func hash(_ secret: Secret) -> HMAC<SHA256>.MAC {
        secret.withBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key) }
    }
}
