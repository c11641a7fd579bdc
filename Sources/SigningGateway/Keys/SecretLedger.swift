import Crypto
import SigningKit
import Synchronization

/// Remembers which secrets a place was opened with, as keyed hashes: to tell whether a PIN that was refused has been
/// replaced since. A refused PIN is not tried again, however often the configuration is read anew.
final class SecretLedger: SecretSource {
    private let source: any SecretSource
    /// Lives as long as the ledger, so a hash is of no use to anybody else.
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

    /// Whether any secret differs from what it was when it was last used; one that cannot be read now does.
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
