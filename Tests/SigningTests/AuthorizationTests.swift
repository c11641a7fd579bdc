import AdvancedCommerce
import GatewayTesting
import Metrics
import MetricsTestKit
import PromotionalOffer
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("Authorization in the dispatcher")
struct AuthorizationTests {
    static let rules = [
        RuleSettings(
            apps: [Pattern(TestGateway.app)], features: ["promotional-offer"], products: ["p"], offers: ["o", "o2"],
            keyIDs: ["OTHER"], origin: "rule 0"),
        RuleSettings(apps: ["org.*"], features: ["promotional-offer", "future-*"], origin: "rule 1"),
    ]

    @Test("A client gets signatures that its rules allow, also by a named key")
    func allowed() async throws {
        let gateway = try await TestGateway()
        let client = Self.client()
        #expect(try gateway.isValid(await gateway.sign(for: client), by: "active"))
        #expect(try gateway.isValid(await gateway.sign(for: client, keyID: "OTHER"), by: "other"))
    }

    @Test("Forbidden apps, features and keys look the same, existing or not")
    func noOracle() async throws {
        let gateway = try await TestGateway { settings in
            settings.accounts[0].apps.append(
                AppSettings(bundleID: "com.example.secret", features: ["promotional-offer"]))
            settings.accounts[0].apps[0].features.append("advanced-commerce-api")
        }
        for app in ["com.example.secret", "com.example.none"] {
            #expect(throws: Self.forbidden(.app(app), "the client")) {
                try gateway.dispatcher.resolve(for: Self.client(), app: app, feature: "promotional-offer")
            }
        }
        for feature in ["advanced-commerce-api", "none"] {
            #expect(throws: Self.forbidden(.feature(feature), "rule 0")) {
                try gateway.dispatcher.resolve(for: Self.client(), app: TestGateway.app, feature: feature)
            }
        }
        for key in ["ACTIVE", "NONE"] {
            #expect(throws: Self.forbidden(.key(key), "rule 0")) {
                try gateway.dispatcher.resolve(
                    for: Self.client(), app: TestGateway.app, feature: "promotional-offer", keyID: key)
            }
        }
    }

    @Test("An allowed app, feature or key without configuration is unknown")
    func unknown() async throws {
        let gateway = try await TestGateway()
        #expect(throws: GatewayError.unknownApp("org.none")) {
            try gateway.dispatcher.resolve(for: Self.client(), app: "org.none", feature: "promotional-offer")
        }
        let curious = Self.client([RuleSettings(apps: ["*"], features: ["*"], keyIDs: ["*"])])
        #expect(throws: GatewayError.unknownFeature("x", app: TestGateway.app)) {
            try gateway.dispatcher.resolve(for: curious, app: TestGateway.app, feature: "x")
        }
        #expect(throws: GatewayError.unknownKey("x", app: TestGateway.app)) {
            try gateway.dispatcher.resolve(for: curious, app: TestGateway.app, feature: "promotional-offer", keyID: "x")
        }
    }

    @Test("A name that only looks like a configured one is unknown")
    func lookAlikes() async throws {
        let gateway = try await TestGateway { $0.accounts[0].apps[0].bundleID = "com.example.caf\u{E9}" }
        #expect(throws: GatewayError.self) {
            try gateway.dispatcher.resolve(for: .operator, app: "com.example.cafe\u{301}", feature: "promotional-offer")
        }
        let route = try gateway.dispatcher.resolve(
            for: .operator, app: "com.example.caf\u{E9}", feature: "promotional-offer")
        #expect(route.app.bundleID == "com.example.caf\u{E9}")
    }

    @Test(
        "A request with a forbidden product or offer never reaches the key",
        arguments: [
            (#"{"productId":"q","offerIdentifier":"o"}"#, DeniedThing.product("q")),
            (#"{"productId":"p","offerIdentifier":"O"}"#, .offer("O")),
            (#"{"productId":"\u0071","offerIdentifier":"x"}"#, .product("q")),
        ])
    func deniedSubject(_ body: String, _ thing: DeniedThing) async throws {
        let gateway = try await TestGateway()
        let before = gateway.place.counts.signatures
        await #expect(throws: Self.forbidden(thing, "rule 0")) {
            try await gateway.sign(for: Self.client(), body: Array(body.utf8))
        }
        #expect(gateway.place.counts.signatures == before)
    }

    @Test("One rule must allow every product of a request")
    func everyProduct() async throws {
        let gateway = try await TestGateway { $0.accounts[0].apps[0].features = ["advanced-commerce-api"] }
        let rule = { (products: [Pattern], origin: String) in
            RuleSettings(apps: ["*"], features: ["*"], products: products, origin: origin)
        }
        let client = Self.client([rule(["a", "b"], "ab"), rule(["c"], "c")])
        let dispatcher = Dispatcher(
            gateway.settings, features: [ServedFeature(AdvancedCommerce(validation: .envelope))], ring: gateway.ring)
        func sign(_ products: String...) async throws(GatewayError) {
            let items = products.map { #"{"SKU":"\#($0)"}"# }.joined(separator: ",")
            let body = #"{"request":{"operation":"X","version":"1","requestInfo":{},"items":[\#(items)]}}"#
            let route = try dispatcher.resolve(for: client, app: TestGateway.app, feature: "advanced-commerce-api")
            _ = try await dispatcher.sign(Array(body.utf8), for: route)
        }
        for allowed in [["a"], ["b", "a"], ["c"], []] {
            switch allowed.count {
            case 2: try await sign(allowed[0], allowed[1])
            case 1: try await sign(allowed[0])
            default: try await sign()
            }
        }
        await #expect(throws: Self.forbidden(.product("c"), "ab")) { try await sign("a", "c") }
        await #expect(throws: Self.forbidden(.product("a"), "c")) { try await sign("c", "a") }
        await #expect(throws: Self.forbidden(.product("x"), "ab")) { try await sign("a", "x", "c") }
    }

    @Test("An exhausted rate is refused, and another client's rate is unaffected")
    func limited() async throws {
        let gateway = try await TestGateway()
        let client = Self.client(rate: RateSettings(perSecond: 0.001, burst: 1))
        #expect(try gateway.dispatcher.admit(client, feature: "promotional-offer")?.remaining == 0)
        #expect(throws: GatewayError.self) { try gateway.dispatcher.admit(client, feature: "promotional-offer") }
        try gateway.dispatcher.admit(Self.client(), feature: "promotional-offer")
    }

    @Test("Outcomes are counted by feature and client, and caller input is no label")
    func counting() async throws {
        let metrics = TestMetrics()
        let gateway = try await TestGateway()
        try await withMetricsFactory(metrics) {
            let client = Self.client(rate: RateSettings(perSecond: 0.001, burst: 2))
            for _ in 0..<2 { _ = try await gateway.sign(for: client) }
            _ = try? await gateway.sign(for: client, body: Array("{".utf8))
            _ = try? await gateway.sign(for: client, body: Array(#"{"productId":"q","offerIdentifier":"o"}"#.utf8))
            _ = try? gateway.dispatcher.resolve(for: client, app: "x", feature: "promotional-offer")
            _ = try? gateway.dispatcher.resolve(for: client, app: "org.x", feature: "promotional-offer")
            _ = try? gateway.dispatcher.resolve(for: client, app: "org.x", feature: "made up")
            _ = try? gateway.dispatcher.resolve(for: client, app: "org.x", feature: "future-x")
            gateway.place.failNext(.busy)
            _ = try? await gateway.sign(for: client)
            _ = try? gateway.dispatcher.admit(client, count: 2, feature: "promotional-offer")
            _ = try? gateway.dispatcher.admit(client, count: 3, feature: "promotional-offer")
            _ = try? await gateway.sign(for: .operator)
        }
        let expected = ["signed": 2, "refused": 2, "denied": 2, "unsigned": 1, "limited": 3]
        for (outcome, count) in expected {
            #expect(try Self.count(metrics, "promotional-offer", outcome) == count, "\(outcome)")
        }
        #expect(try Self.count(metrics, "unknown", "denied") == 1)
        #expect(try Self.count(metrics, "unknown", "refused") == 1)
        let limited = try metrics.expectCounter(
            "privyseal_rate_limited_total", [("client", "shop"), ("limit", "rate")])
        #expect(limited.totalValue == 3)
        #expect(!metrics.counters.contains { $0.dimensions.contains { $0.1 == "made up" || $0.1 == "future-x" } })
    }

    // MARK: Fixtures

    private static func client(_ rules: [RuleSettings] = rules, rate: RateSettings? = nil) -> Client {
        let settings = ClientSettings(name: "shop", rules: rules, rate: rate, origin: "the client")
        return ClientDirectory(GatewaySettings(accounts: [], clients: [settings])).clients[0]
    }

    private static func forbidden(_ thing: DeniedThing, _ origin: String) -> GatewayError {
        .forbidden(Denial(of: thing, client: "shop", origin: origin))
    }

    private static func count(_ metrics: TestMetrics, _ feature: String, _ outcome: String) throws -> Int64 {
        let dimensions = [("feature", feature), ("client", "shop"), ("outcome", outcome)]
        return try metrics.expectCounter("privyseal_requests_total", dimensions).totalValue
    }
}
