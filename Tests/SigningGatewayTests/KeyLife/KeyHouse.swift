import AuditKit
import PromotionalOffer
public import SigningGateway
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

/// A gateway with a register in memory, and the office that decides about its keys ACTIVE and OTHER.
struct KeyHouse {
    let gateway: AuditedGateway
    let live: LiveGateway
    let office: KeyOffice

    /// - Parameters:
    ///   - store: of the log; the register is not loaded where it cannot be opened.
    ///   - staging: OTHER comes into the configuration after the register began.
    ///   - clock: of the log and the register; nil for the one of the system.
    init(
        store: MemoryAuditStore = MemoryAuditStore(), staging: Bool = false, clock: SteppedClock? = nil,
        adjust: (inout GatewayPlan) -> Void = { _ in }
    ) async throws {
        func adjustAll(_ plan: inout GatewayPlan) {
            plan.clients += Self.administrators
            adjust(&plan)
            if staging { plan.accounts[0].keys.removeLast() }
        }
        gateway =
            if let clock {
                try await AuditedGateway(clock: clock, adjust: adjustAll)
            } else {
                try await AuditedGateway(store: store, adjust: adjustAll)
            }
        var generation = gateway.generation
        if staging {
            var plan = gateway.plain.plan
            let uri = gateway.plain.place.add("late")
            plan.accounts[0].keys.append(KeyPlan(keyID: "OTHER", uri: try KeyURI(uri), origin: "here"))
            generation = GatewayGeneration(
                plan, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil), inheriting: gateway.generation,
                audit: gateway.audit)
        }
        live = LiveGateway(generation)
        office = KeyOffice(live, audit: gateway.audit)
        await generation.ring.openMissing()
        await generation.ring.prove()
        if store.openingFault == nil { try await office.prepare() }
    }

    private static let administrators = ["alice", "ann", "bob", "carol"].map {
        ClientPlan(name: $0, isAdministrator: true)
    }

    func state(_ keyID: String) -> KeyLifeState? { gateway.audit.keys.records[keyID]?.state }

    func change(_ action: KeyLifeAction, _ keyID: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try await office.change(KeyChangeOrder(action, keyID, reason: "A test."), by: "alice")
    }

    func sign(keyID: String? = nil) async throws(GatewayError) -> [UInt8] {
        let dispatcher = live.current.dispatcher
        let route = try dispatcher.route(
            for: .operator, app: TestGateway.app, feature: "promotional-offer", keyID: keyID)
        return try await dispatcher.sign(TestGateway.body, along: route)
    }

    /// So many requests at once that name no key.
    func signBatch(of count: Int) async throws -> [Result<[UInt8], GatewayError>] {
        let dispatcher = live.current.dispatcher
        let route = try dispatcher.route(for: .operator, app: TestGateway.app, feature: "promotional-offer")
        let request = try JSONDocument(parsing: TestGateway.body).root
        return await dispatcher.sign([JSONValue](repeating: request, count: count), along: route)
    }

    /// Of a key in the place of the gateway's keys, whether or not there is one.
    func uri(_ name: String) -> String { "fake:\(gateway.plain.place.name);key=\(name)" }

    /// Takes a key into the configuration, as a reload does.
    func declare(_ keyID: String, at uri: String) throws {
        let key = KeyPlan(keyID: keyID, uri: try KeyURI(uri), origin: "here")
        reload { $0.accounts[0].keys.append(key) }
    }

    /// Another configuration, as after a reload.
    func reload(_ adjust: (inout GatewayPlan) -> Void) {
        var plan = gateway.plain.plan
        adjust(&plan)
        live.replace(
            with: GatewayGeneration(
                plan, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil), inheriting: live.current, audit: gateway.audit))
    }

    func close() async {
        await live.current.ring.close()
        await gateway.audit.close()
    }
}

extension Administrator: ExpressibleByStringLiteral {
    /// A client whose name and token are known to be its own.
    public init(stringLiteral name: String) { self.init(name: name, proofs: ["token of \(name)"]) }
}

/// A change that must not be, what comes before it, and a part of the sentence that refuses it.
struct RefusedChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let order: KeyChangeOrder
    let sentence: String
    var prepare: @Sendable (KeyHouse) async throws -> Void = { _ in }

    static let all = [
        RefusedChange(
            testDescription: "a key that is not there", order: KeyChangeOrder(.suspend, "NONE", reason: "x"),
            sentence: "There is no key NONE"),
        RefusedChange(
            testDescription: "without a reason", order: KeyChangeOrder(.suspend, "OTHER", reason: " "),
            sentence: "Give a reason"),
        RefusedChange(
            testDescription: "retire the only active key", order: KeyChangeOrder(.retire, "ACTIVE", reason: "x"),
            sentence: "is the only active key of its account"),
        RefusedChange(
            testDescription: "an overlap of zero",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: 0),
            sentence: "An overlap of zero"),
        RefusedChange(
            testDescription: "without the key that makes room", order: KeyChangeOrder(.activate, "OTHER", reason: "x"),
            sentence: "--retire ACTIVE"),
        RefusedChange(
            testDescription: "another key makes room",
            order: KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "OTHER", overlap: 60),
            sentence: "OTHER is not active"),
        RefusedChange(
            testDescription: "activate the active key",
            order: KeyChangeOrder(.activate, "ACTIVE", reason: "x", retiring: "ACTIVE", overlap: 60),
            sentence: "is active already"),
        RefusedChange(
            testDescription: "activate without a fresh proof",
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
            sentence: "is retired, which is for good", prepare: { _ = try await $0.change(.retire, "OTHER") }),
        RefusedChange(
            testDescription: "resume what is not suspended", order: KeyChangeOrder(.resume, "OTHER", reason: "x"),
            sentence: "not suspended"),
        RefusedChange(
            testDescription: "restore what is not compromised", order: KeyChangeOrder(.restore, "OTHER", reason: "x"),
            sentence: "not compromised"),
        RefusedChange(
            testDescription: "suspend twice", order: KeyChangeOrder(.suspend, "OTHER", reason: "x"),
            sentence: "is suspended already", prepare: { _ = try await $0.change(.suspend, "OTHER") }),
        RefusedChange(
            testDescription: "a second active key", order: KeyChangeOrder(.resume, "ACTIVE", reason: "x"),
            sentence: "OTHER is active now",
            prepare: {
                _ = try await $0.change(.suspend, "ACTIVE")
                _ = try await $0.change(.activate, "OTHER")
            }),
    ]
}
