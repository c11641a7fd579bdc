import SigningKit
import Synchronization

/// A place of the configuration, and the backend that is open there, if one is. Rings hand it on to the ring that
/// follows them, and with it the login.
final class KeyPlace: Sendable {
    let locator: KeyLocator
    private let type: any KeyBackend.Type
    private let settings: KeyBackendSettings
    private let secrets: SecretLedger
    private let state = Mutex(State())

    private struct State {
        var backend: (any KeyBackend)?
        var isClosed = false
    }

    init(_ locator: KeyLocator, type: any KeyBackend.Type, settings: KeyBackendSettings, secrets: any SecretSource) {
        self.locator = locator
        self.type = type
        self.settings = settings
        self.secrets = SecretLedger(secrets)
    }

    /// Whether another configuration, with these settings, means the same by it.
    func hasSettings(_ settings: KeyBackendSettings) -> Bool { self.settings == settings }

    var hasNewSecrets: Bool { secrets.hasChanged }

    /// Opens it when it is not open. One caller at a time: the ring sees to that.
    func backend() async throws(KeyError) -> any KeyBackend {
        let (open, isClosed) = state.withLock { ($0.backend, $0.isClosed) }
        if let open { return open }
        if isClosed { throw .closed }
        let backend: any KeyBackend = try await type.open(
            locator, in: KeyBackendEnvironment(settings: settings, secrets: secrets))
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
