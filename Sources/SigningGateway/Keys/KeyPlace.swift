import SigningKit
import Synchronization

/// A place of the configuration, and the backend that is open there, if one is. Rings hand it on to the ring that
/// follows them, and with it the login.
final class KeyPlace: Sendable {
    let locator: KeyLocator
    private let type: any KeyBackend.Type
    private let settings: KeyBackendSettings
    private let secrets: SecretLedger
    private let audit: AuditLog?
    /// Places are made at a start or a reload, so a person asked for this one then.
    private let orderedAt = ContinuousClock.now
    private let state = Mutex(State())

    private struct State {
        var backend: (any KeyBackend)?
        var isClosed = false
        /// Why a login was refused. Every further try would count against the PIN.
        var refusal: KeyError?
    }

    init(
        _ locator: KeyLocator, type: any KeyBackend.Type, settings: KeyBackendSettings, secrets: any SecretSource,
        audit: AuditLog? = nil
    ) {
        self.audit = audit
        self.locator = locator
        self.type = type
        self.settings = settings
        self.secrets = SecretLedger(secrets)
    }

    /// Whether another configuration, with these settings, means the same by it.
    func hasSettings(_ settings: KeyBackendSettings) -> Bool { self.settings == settings }

    func meansSame(as other: KeyPlace) -> Bool { locator == other.locator && settings == other.settings }

    var hasNewSecrets: Bool { secrets.hasChanged }

    var hasRefusedLogin: Bool { state.withLock { $0.refusal != nil } }

    /// Whether the login needs no other PIN, but a person who looked at the token.
    var hasBlockedLogin: Bool { state.withLock { $0.refusal?.isBlockedLogin == true } }

    /// Opens it when it is not open, unless a login was refused before. One caller at a time: the ring sees to that.
    func backend() async throws(KeyError) -> any KeyBackend {
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
                in: KeyBackendEnvironment(settings: settings, secrets: secrets, orderedAt: orderedAt) { [audit] in
                    audit?.note($0)
                })
        } catch {
            if error.concernsLogin {
                state.withLock { $0.refusal = error }
                audit?.note(KeyPlaceEvent(.pinRefused, reason: error.description))
            }
            throw error
        }
    }

    /// Nil while it is not open.
    var openBackend: (any KeyBackend)? { state.withLock { $0.backend } }

    /// Waits for signatures in flight. It is not opened again.
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
