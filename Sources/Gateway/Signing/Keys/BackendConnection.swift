import AuditLog
import Crypto
package import SigningKit
import Synchronization

/// A configured location of keys, and its backend while it is open. The next `KeyRing` takes it over with its login.
package final class BackendConnection: Sendable {
    package let locator: KeyLocator
    private let type: any KeyBackend.Type
    private let settings: PluginSettings
    /// Nil to open the backend in this process.
    private let signer: SignerSettings?
    private let logins: (any LoginHistory)?
    private let secrets: SecretHistory
    private let audit: AuditLog?
    /// A connection is made at a start or reload, so this is when a person ordered it.
    private let reopenOrderedAt = MonotonicTime.nanoseconds()
    private let state = Mutex(State())

    private struct State {
        var backend: (any KeyBackend)?
        var isClosed = false
        /// Why a login was refused. Each further attempt would count against the PIN.
        var refusal: KeyError?
    }

    init(
        _ locator: KeyLocator, type: any KeyBackend.Type, settings: PluginSettings, signers: SignerCatalog?,
        secrets: any SecretSource, audit: AuditLog? = nil
    ) {
        signer = signers?.settings(of: locator, in: type)
        logins = signers?.logins
        self.audit = audit
        self.locator = locator
        self.type = type
        self.settings = settings
        self.secrets = SecretHistory(secrets)
    }

    /// Whether a configuration with these settings can use this connection.
    func hasSettings(_ settings: PluginSettings, _ signers: SignerCatalog?) -> Bool {
        self.settings == settings && signer == signers?.settings(of: locator, in: type)
    }

    func meansSame(as other: BackendConnection) -> Bool {
        locator == other.locator && settings == other.settings && signer == other.signer
    }

    var hasNewSecrets: Bool { secrets.hasChanged }

    var hasRefusedLogin: Bool { state.withLock { $0.refusal != nil } }

    /// Whether the login waits for a person to look at the token. Another PIN does not help.
    var hasBlockedLogin: Bool { state.withLock { $0.refusal?.isBlockedLogin == true } }

    /// Opens the backend, unless it is open or a login was refused. `KeyRing.opening` allows one caller at a time.
    package func backend() async throws(KeyError) -> any KeyBackend {
        let known = state.withLock { $0 }
        if let backend = known.backend { return backend }
        if let refusal = known.refusal { throw refusal }
        if known.isClosed { throw .closed }
        let backend = try await opened()
        let isLate = state.withLock { state in
            if !state.isClosed { state.backend = backend }
            return state.isClosed
        }
        guard !isLate else {
            await backend.close()
            throw .closed
        }
        return backend
    }

    private func opened() async throws(KeyError) -> any KeyBackend {
        do throws(KeyError) {
            return try await type.open(
                locator,
                in: KeyBackendEnvironment(
                    settings: settings, secrets: secrets, signer: signer, logins: logins,
                    reopenOrderedAt: reopenOrderedAt
                ) { [audit] in audit?.note($0) })
        } catch {
            if error.concernsLogin {
                state.withLock { $0.refusal = error }
                audit?.note(KeyBackendEvent(.loginRefused, reason: error.description))
            }
            throw error
        }
    }

    /// Nil while the backend is not open.
    var openBackend: (any KeyBackend)? { state.withLock { $0.backend } }

    /// Waits for signatures in progress. The connection does not open again.
    func close() async {
        let backend = state.withLock { state in
            state.isClosed = true
            return state.backend.take()
        }
        await backend?.close()
    }
}

extension KeyError {
    var isBlockedLogin: Bool { if case .loginBlocked = self { true } else { false } }
}

/// Remembers the secrets of a connection, to detect whether a refused PIN has been replaced. A reload alone does not retry
/// a refused PIN. Of a secret that this process reads, it stores a keyed hash; of one that a signer reads, the identity
/// of its file.
final class SecretHistory: SecretSource {
    private enum Seen {
        case hash(HMAC<SHA256>.MAC)
        /// Nil if the file cannot be examined.
        case identity(String?)
    }

    private let source: any SecretSource
    /// The key lives as long as this object, so the hashes are useless elsewhere.
    private let key = SymmetricKey(size: .bits256)
    private let seen = Mutex<[String: Seen]>([:])

    init(_ source: any SecretSource) {
        self.source = source
    }

    func secret(_ reference: String) throws(KeyError) -> Secret {
        let secret = try source.secret(reference)
        let hash = hash(secret)
        seen.withLock { $0[reference] = .hash(hash) }
        return secret
    }

    func identity(of reference: String) -> String? {
        let identity = source.identity(of: reference)
        seen.withLock { seen in
            if case .hash = seen[reference] { return }
            seen[reference] = .identity(identity)
        }
        return identity
    }

    /// Whether any secret has changed since its last use. An unreadable secret counts as changed.
    var hasChanged: Bool {
        seen.withLock { $0 }.contains { reference, known in
            switch known {
            case .hash(let known):
                guard let secret = try? source.secret(reference) else { return true }
                return hash(secret) != known
            case .identity(let known): return known == nil || source.identity(of: reference) != known
            }
        }
    }

    private func hash(_ secret: Secret) -> HMAC<SHA256>.MAC {
        secret.withBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key) }
    }
}
