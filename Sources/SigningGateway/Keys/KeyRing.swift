public import SigningKit
import Synchronization

/// Every key of the configuration, and the backends that hold them.
///
/// Keys that live in one place share one backend, and with it one login. A key that cannot be opened leaves its slot
/// empty, and says why; the others serve.
public final class KeyRing: Sendable {
    /// In the order of the configuration.
    public let slots: [KeySlot]

    /// By scheme.
    private let backends: [String: Backend]
    private let secrets: any SecretSource
    private let backendsInUse = Mutex<[KeyLocator: any KeyBackend]>([:])

    private struct Backend {
        let type: any KeyBackend.Type
        let settings: KeyBackendSettings
    }

    /// Touches no key yet: `openMissing` does.
    public init(_ plan: GatewayPlan, backends: [any KeyBackend.Type], secrets: any SecretSource) {
        slots = plan.accounts.flatMap { account in
            account.keys.map { key in
                KeySlot(
                    key, issuerID: account.issuerID, isActive: key.keyID == account.activeKeyID,
                    mode: plan.verification)
            }
        }
        self.secrets = secrets
        var byScheme: [String: Backend] = [:]
        for type in backends {
            let settings = plan.backendSettings[type.scheme] ?? KeyBackendSettings(defaultsOf: type.settings)
            byScheme[type.scheme] = Backend(type: type, settings: settings)
        }
        self.backends = byScheme
    }

    /// Opens what is not open, one after the other: tokens do not like to be opened in parallel. Slots whose failure
    /// only a person can mend are left alone, so a refused PIN is not tried again.
    ///
    /// - Returns: whether a key came in.
    @discardableResult
    public func openMissing() async -> Bool {
        var hasOpened = false
        for slot in slots where await open(slot) { hasOpened = true }
        return hasOpened
    }

    /// Opens one slot, unless it is open or only a person can mend it.
    ///
    /// - Returns: whether a key came in.
    @discardableResult
    public func open(_ slot: KeySlot) async -> Bool {
        guard slot.publicKey == nil else { return false }
        if case .refused = slot.state { return false }
        do { slot.fill(with: try await find(slot.plan)) } catch { slot.fail(with: error) }
        return slot.publicKey != nil
    }

    /// Every key that is open signs a proof, at the same time.
    ///
    /// - Parameters:
    ///   - age: proofs that are younger hold.
    ///   - isWanted: which keys.
    public func prove(
        olderThan age: Duration = .zero, where isWanted: (KeySlot) -> Bool = { _ in true }
    ) async {
        await noteHealth()
        await withTaskGroup { group in
            for slot in slots where slot.publicKey != nil && isWanted(slot) {
                if let known = slot.proofAge, known < age { continue }
                group.addTask { await slot.prove() }
            }
        }
    }

    /// Waits for signatures in flight, then gives the tokens back.
    public func close() async {
        let backends = backendsInUse.withLock { backends in
            defer { backends = [:] }
            return Array(backends.values)
        }
        for backend in backends { await backend.close() }
    }

    // MARK: Opening

    private func find(_ plan: KeyPlan) async throws(KeyError) -> any SigningKey {
        var address = try backend(serving: plan.uri).type.address(of: plan.uri)
        address.selector.publicKey = plan.publicKey
        return try await backend(at: address.locator).key(address.selector)
    }

    private func backend(at locator: KeyLocator) async throws(KeyError) -> any KeyBackend {
        if let backend = backendsInUse.withLock({ $0[locator] }) { return backend }
        let served = try backend(serving: locator.uri)
        let environment = KeyBackendEnvironment(settings: served.settings, secrets: secrets)
        let backend: any KeyBackend = try await served.type.open(locator, in: environment)
        backendsInUse.withLock { $0[locator] = backend }
        return backend
    }

    private func backend(serving uri: KeyURI) throws(KeyError) -> Backend {
        guard let backend = backends[uri.scheme] else {
            let known = backends.keys.sorted().map { $0 + ":" }.joined(separator: ", ")
            throw .invalidURI("no key backend serves the scheme \(uri.scheme):; there are \(known)")
        }
        return backend
    }

    /// What a backend says of itself reaches the slots of its keys.
    private func noteHealth() async {
        let backends = backendsInUse.withLock { $0 }
        var health: [KeyLocator: KeyBackendHealth] = [:]
        for (locator, backend) in backends { health[locator] = await backend.health() }
        for slot in slots {
            let locator = try? backend(serving: slot.plan.uri).type.address(of: slot.plan.uri).locator
            if let locator, let health = health[locator] { slot.note(health) }
        }
    }
}
