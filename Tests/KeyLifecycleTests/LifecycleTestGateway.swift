import AuditKit
import AuditLog
import GatewayTesting
import KeyLifecycle
import PromotionalOffer
public import Signing
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

/// A gateway with a register in memory, and the `KeyLifecycleService` for its keys ACTIVE and OTHER.
struct LifecycleTestGateway {
    let gateway: AuditedGateway
    let snapshots: SnapshotHolder
    let lifecycle: KeyLifecycleService

    /// - Parameters:
    ///   - store: the log's store; if it cannot be opened, the register is not loaded.
    ///   - staging: whether OTHER enters the configuration after the register began.
    ///   - clock: the clock of the log and the register; nil for the system's.
    init(
        store: MemoryAuditStore = MemoryAuditStore(), staging: Bool = false, clock: SteppedClock? = nil,
        adjust: (inout GatewaySettings) -> Void = { _ in }
    ) async throws {
        func adjustAll(_ settings: inout GatewaySettings) {
            settings.clients += Self.administrators
            adjust(&settings)
            if staging { settings.accounts[0].keys.removeLast() }
        }
        gateway =
            if let clock {
                try await AuditedGateway(clock: clock, adjust: adjustAll)
            } else {
                try await AuditedGateway(store: store, adjust: adjustAll)
            }
        var snapshot = gateway.snapshot
        if staging {
            var settings = gateway.plain.settings
            let uri = gateway.plain.place.add("late")
            settings.accounts[0].keys.append(KeySettings(keyID: "OTHER", uri: try KeyURI(uri), origin: "here"))
            snapshot = ConfigurationSnapshot(
                settings, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil), inheriting: gateway.snapshot,
                audit: gateway.snapshot.audit)
        }
        snapshots = SnapshotHolder(snapshot)
        lifecycle = KeyLifecycleService(snapshots, audit: gateway.audit, keyStates: gateway.keyStates)
        await snapshot.ring.openMissing()
        await snapshot.ring.prove()
        if store.openingFault == nil { try await lifecycle.prepare() }
    }

    private static let administrators = ["alice", "ann", "bob", "carol"].map {
        ClientSettings(name: $0, isAdministrator: true)
    }

    func state(_ keyID: String) -> KeyLifecycleState? { gateway.keyStates.records[keyID]?.state }

    func change(_ action: KeyLifecycleAction, _ keyID: String) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try await lifecycle.change(KeyChangeOrder(action, keyID, reason: "A test."), by: "alice")
    }

    func sign(keyID: String? = nil) async throws(GatewayError) -> [UInt8] {
        let dispatcher = snapshots.current.dispatcher
        let route = try dispatcher.resolve(
            for: .operator, app: TestGateway.app, feature: "promotional-offer", keyID: keyID)
        return try await dispatcher.sign(TestGateway.body, for: route)
    }

    /// Signs `count` requests in one batch; they name no key.
    func signBatch(of count: Int) async throws -> [Result<[UInt8], GatewayError>] {
        let dispatcher = snapshots.current.dispatcher
        let route = try dispatcher.resolve(for: .operator, app: TestGateway.app, feature: "promotional-offer")
        let request = try JSONDocument(parsing: TestGateway.body).root
        return await dispatcher.sign([JSONValue](repeating: request, count: count), for: route) { _ in .test }
    }

    /// The URI of a key of the fake backend, whether or not the key exists.
    func uri(_ name: String) -> String { "fake:\(gateway.plain.place.name);key=\(name)" }

    func declare(_ keyID: String, at uri: String) throws {
        let key = KeySettings(keyID: keyID, uri: try KeyURI(uri), origin: "here")
        reload { $0.accounts[0].keys.append(key) }
    }

    /// Replaces the configuration, as a reload does.
    func reload(_ adjust: (inout GatewaySettings) -> Void) {
        var settings = gateway.plain.settings
        adjust(&settings)
        snapshots.replace(
            with: ConfigurationSnapshot(
                settings, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil), inheriting: snapshots.current,
                audit: gateway.snapshot.audit))
    }

    func close() async {
        await snapshots.current.ring.close()
        await gateway.audit.close()
    }
}

extension Administrator: ExpressibleByStringLiteral {
    /// An administrator with a token of its own.
    public init(stringLiteral name: String) { self.init(name: name, proofs: ["token of \(name)"]) }
}

/// A change that must be refused, its preparation, and a part of the refusal's sentence.
struct RefusedChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let order: KeyChangeOrder
    let sentence: String
    var prepare: @Sendable (LifecycleTestGateway) async throws -> Void = { _ in }

    static let all = [
        RefusedChange(
            testDescription: "suspend an unknown key", order: KeyChangeOrder(.suspend, "NONE", reason: "x"),
            sentence: "There is no key NONE"),
        RefusedChange(
            testDescription: "suspend a key without a reason", order: KeyChangeOrder(.suspend, "OTHER", reason: " "),
            sentence: "Give a reason"),
        RefusedChange(
            testDescription: "retire the only active key", order: KeyChangeOrder(.retire, "ACTIVE", reason: "x"),
            sentence: "is the only active key of its account"),
        RefusedChange(
            testDescription: "activate a key with an overlap of zero",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 0),
            sentence: "Without an overlap"),
        RefusedChange(
            testDescription: "activate a key without a key to retire",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x"),
            sentence: "--retire ACTIVE"),
        RefusedChange(
            testDescription: "activate a key and retire one that is not active",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "OTHER", overlap: 60),
            sentence: "OTHER is not active"),
        RefusedChange(
            testDescription: "activate the active key",
            order: KeyChangeOrder(.activate, "ACTIVE", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "is active already"),
        RefusedChange(
            testDescription: "activate a key without a fresh proof",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "has not signed a fresh proof of possession",
            prepare: { $0.gateway.plain.place.failNext(.failed("It does not answer."), .failed("It does not answer.")) }
        ),
        RefusedChange(
            testDescription: "activate a suspended key",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "is suspended; resume it first", prepare: { _ = try await $0.change(.suspend, "OTHER") }),
        RefusedChange(
            testDescription: "activate a compromised key",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "is compromised", prepare: { _ = try await $0.change(.compromise, "OTHER") }),
        RefusedChange(
            testDescription: "activate a retired key",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "is retired, which is final", prepare: { _ = try await $0.change(.retire, "OTHER") }),
        RefusedChange(
            testDescription: "resume a key that is not suspended", order: KeyChangeOrder(.resume, "OTHER", reason: "x"),
            sentence: "not suspended"),
        RefusedChange(
            testDescription: "restore a key that is not compromised",
            order: KeyChangeOrder(.restore, "OTHER", reason: "x"),
            sentence: "not compromised"),
        RefusedChange(
            testDescription: "suspend a key twice", order: KeyChangeOrder(.suspend, "OTHER", reason: "x"),
            sentence: "is suspended already", prepare: { _ = try await $0.change(.suspend, "OTHER") }),
        RefusedChange(
            testDescription: "resume a key while another one is active",
            order: KeyChangeOrder(.resume, "ACTIVE", reason: "x"),
            sentence: "OTHER is active now",
            prepare: {
                _ = try await $0.change(.suspend, "ACTIVE")
                _ = try await $0.change(.activate, "OTHER")
            }),
    ]
}
