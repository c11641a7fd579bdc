import AuditKit
package import AuditLog
package import KeyLifecycle
import PromotionalOffer
package import Signing
package import SigningKit
import SigningKitTesting
package import TransparencyLog

/// A test gateway with an audit log in memory.
package struct AuditedGateway {
    package let store: MemoryAuditStore
    package let signer: NoteSigner
    package let audit: AuditLog
    package let keyStates = KeyStateCache()
    package let plain: TestGateway
    package let snapshot: ConfigurationSnapshot

    package init(
        store: MemoryAuditStore = MemoryAuditStore(), settings: AuditSettings = AuditSettings(),
        publisher: CheckpointPublisher? = nil,
        adjust: (inout GatewaySettings) -> Void = { _ in },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now, uptime: (@Sendable () -> Duration)? = nil
    ) async throws {
        self.store = store
        signer = try .generate(name: store.identity.origin)
        audit = AuditLog(
            signer: signer, settings: settings, publisher: publisher, now: now, uptime: uptime,
            loading: keyStates.load
        ) {
            () throws(AuditStoreError) in try store.opened()
        }
        try audit.open()
        plain = try await TestGateway(isOpen: false, adjust: adjust)
        snapshot = ConfigurationSnapshot(
            plain.settings, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
            secrets: FileSecretSource(credentialsDirectory: nil), audit: SigningAudit(audit, keyStates))
        snapshot.declareKeys()
        await snapshot.ring.openMissing()
        await snapshot.ring.prove()
    }

    package init(clock: SteppedClock, adjust: (inout GatewaySettings) -> Void = { _ in }) async throws {
        try await self.init(adjust: adjust, now: { clock.now }, uptime: { clock.uptime })
    }

    package var dispatcher: Dispatcher { snapshot.dispatcher }

    package func route(_ id: String = "r-1") throws -> ResolvedRequest {
        try dispatcher.resolve(
            for: .operator, app: TestGateway.app, feature: "promotional-offer", request: RequestIdentity(id: id))
    }

    package func sign(_ id: String = "r-1", body: [UInt8] = TestGateway.body) async throws -> [UInt8] {
        try await dispatcher.sign(body, for: try route(id))
    }

    /// Waits for a state of the log. A test that hangs here has found a fault; `scripts/test` ends it and names it.
    package func until(_ isDone: @Sendable () -> Bool) async {
        while !isDone() { await Task.yield() }
    }
}
