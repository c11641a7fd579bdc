import AuditKit
import PromotionalOffer
import SigningGateway
import SigningKit
import SigningKitTesting
import TransparencyLog

/// A test gateway that keeps a record in memory.
struct AuditedGateway {
    let store: MemoryAuditStore
    let signer: NoteSigner
    let audit: AuditLog
    let plain: TestGateway
    let generation: GatewayGeneration

    init(
        store: MemoryAuditStore = MemoryAuditStore(), settings: AuditSettings = AuditSettings(),
        publisher: CheckpointPublisher? = nil,
        adjust: (inout GatewayPlan) -> Void = { _ in },
        now: @escaping @Sendable () -> Timestamp = GrantIssuer.systemTime, uptime: (@Sendable () -> Duration)? = nil
    ) async throws {
        self.store = store
        signer = try .generate(name: store.identity.origin)
        audit = AuditLog(signer: signer, settings: settings, publisher: publisher, now: now, uptime: uptime) {
            () throws(AuditStoreError) in try store.opened()
        }
        try audit.open()
        plain = try await TestGateway(isOpen: false, adjust: adjust)
        generation = GatewayGeneration(
            plain.plan, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
            secrets: FileSecretSource(credentialsDirectory: nil), audit: audit)
        generation.declareKeys()
        await generation.ring.openMissing()
        await generation.ring.prove()
    }

    init(clock: SteppedClock, adjust: (inout GatewayPlan) -> Void = { _ in }) async throws {
        try await self.init(adjust: adjust, now: { clock.now }, uptime: { clock.uptime })
    }

    var dispatcher: Dispatcher { generation.dispatcher }

    func route(_ id: String = "r-1") throws -> SigningRoute {
        try dispatcher.route(
            for: .operator, app: TestGateway.app, feature: "promotional-offer", request: RequestMark(id: id))
    }

    func sign(_ id: String = "r-1", body: [UInt8] = TestGateway.body) async throws -> [UInt8] {
        try await dispatcher.sign(body, along: try route(id))
    }

    /// Waits until the log is as it should be. Everything here ends by itself; who hangs has found a fault.
    func until(_ isDone: @Sendable () -> Bool) async {
        while !isDone() { await Task.yield() }
    }
}
