import Signing
import SigningKit
import Testing

@Suite("Client rules")
struct PolicyTests {
    struct Request: CustomTestStringConvertible {
        var app = "com.example.app"
        var feature = "promotional-offer"
        var key: String?
        var product: String?
        var offer: String?
        let expected: Result<String, Denial>

        var testDescription: String { "\(app) \(feature) \(key ?? "-") \(product ?? "-") \(offer ?? "-")" }
    }

    static let client = ClientSettings(
        name: "shop",
        rules: [
            RuleSettings(
                apps: ["com.example.app"], features: ["promotional-offer"], products: ["com.example.*"],
                offers: ["spring*"], origin: "rule 0"),
            RuleSettings(
                apps: ["com.example.app", "com.example.old"], features: ["promotional-offer", "legacy-*"],
                products: ["special"], offers: ["*"], keyIDs: ["K1", "K2*"], origin: "rule 1"),
            RuleSettings(apps: ["org.*"], features: ["*"], origin: "rule 2"),
        ], origin: "clients[0]")

    @Test(
        "The first rule that allows the whole request decides, and a denial names the item",
        arguments: [
            Request(expected: .success("rule 0")),
            Request(product: "com.example.a", expected: .success("rule 0")),
            Request(product: "com.example.a", offer: "spring1", expected: .success("rule 0")),
            Request(product: "special", expected: .success("rule 1")),
            Request(product: "special", offer: "autumn", expected: .success("rule 1")),
            Request(key: "K1", product: "special", expected: .success("rule 1")),
            Request(key: "K21", expected: .success("rule 1")),
            Request(feature: "legacy-promotional-offer", expected: .success("rule 1")),
            Request(app: "com.example.old", expected: .success("rule 1")),
            Request(app: "org.a", feature: "anything", expected: .success("rule 2")),
            // The permissions of two rules do not combine.
            Request(product: "com.example.a", offer: "autumn", expected: denied(.offer("autumn"), "rule 0")),
            Request(key: "K1", product: "com.example.a", expected: denied(.product("com.example.a"), "rule 1")),
            Request(
                app: "com.example.old", product: "com.example.a", expected: denied(.product("com.example.a"), "rule 1")),
            Request(
                feature: "legacy-x", product: "com.example.a", expected: denied(.product("com.example.a"), "rule 1")),
            // A request may name only what a rule allows.
            Request(app: "org.a", product: "p", expected: denied(.product("p"), "rule 2")),
            Request(app: "org.a", offer: "o", expected: denied(.offer("o"), "rule 2")),
            Request(app: "org.a", key: "K1", expected: denied(.key("K1"), "rule 2")),
            Request(product: "", expected: denied(.product(""), "rule 0")),
            Request(key: "", expected: denied(.key(""), "rule 0")),
            // In the order app, feature, key, product, offer
            Request(
                app: "x", feature: "x", key: "x", product: "x", offer: "x", expected: denied(.app("x"), "clients[0]")),
            Request(feature: "x", key: "x", product: "x", offer: "x", expected: denied(.feature("x"), "rule 0")),
            Request(key: "x", product: "x", offer: "x", expected: denied(.key("x"), "rule 0")),
            Request(product: "x", offer: "x", expected: denied(.product("x"), "rule 0")),
            Request(product: "special", offer: "", expected: .success("rule 1")),
            Request(app: "COM.EXAMPLE.APP", expected: denied(.app("COM.EXAMPLE.APP"), "clients[0]")),
            Request(app: "com.example.app ", expected: denied(.app("com.example.app "), "clients[0]")),
            Request(app: "", expected: denied(.app(""), "clients[0]")),
        ])
    func decisions(_ request: Request) async throws {
        #expect(try await decision(on: request, for: Self.client) == request.expected)
    }

    @Test("The composed and the decomposed form of a name are two, in a list of any length", arguments: [2, 9, 20])
    func unicodeForms(_ count: Int) async throws {
        let forms = ["caf\u{E9}", "cafe\u{301}"]
        let fillers = (2..<count).map { Pattern("p\($0)") }
        for (allowed, other) in [(forms, []), ([forms[0]], [forms[1]]), ([forms[1]], [forms[0]])] {
            let rule = RuleSettings(
                apps: ["com.example.app"], features: ["*"], products: allowed.map { Pattern($0) } + fillers,
                origin: "rule 0")
            let client = ClientSettings(name: "shop", rules: [rule], origin: "clients[0]")
            for product in allowed {
                let decision = try await decision(
                    on: Request(product: product, expected: .success("")), for: client)
                #expect(decision == .success("rule 0"))
            }
            for product in other {
                let decision = try await decision(
                    on: Request(product: product, expected: .success("")), for: client)
                #expect(decision == Self.denied(.product(product), "rule 0"))
            }
        }
    }

    @Test("A client without rules may do nothing, and the operator may do everything")
    func extremes() async throws {
        let request = Request(product: "p", offer: "o", expected: Self.denied(.app("com.example.app"), "here"))
        #expect(try await decision(on: request, for: ClientSettings(name: "shop", origin: "here")) == request.expected)
        let gateway = try await LimitedGateway()
        let everything = gateway.dispatcher.explain(
            client: .operator, app: "", feature: "x", keyID: "k", product: "p", offer: "o")
        #expect(everything == .success("the command line"))
    }

    @Test("Names that only look alike are different")
    func bytes() async throws {
        let client = ClientSettings(
            name: "shop",
            rules: [RuleSettings(apps: ["*"], features: ["*"], products: ["caf\u{E9}", "\u{212A}"], origin: "rule")])
        for (product, isAllowed) in [("caf\u{E9}", true), ("cafe\u{301}", false), ("\u{212A}", true), ("K", false)] {
            let decision = try await decision(
                on: Request(product: product, expected: .success("rule")), for: client)
            #expect((decision == .success("rule")) == isAllowed)
        }
    }

    @Test("A rule with many names allows exactly these names")
    func manyNames() async throws {
        let names = (0..<100).map { "com.example.p\($0)" } + ["caf\u{E9}"]
        let rule = RuleSettings(
            apps: ["*"], features: ["*"], products: names.map { Pattern($0) } + ["x*"], origin: "rule")
        let client = ClientSettings(name: "shop", rules: [rule])
        let allowed = Result<String, Denial>.success("rule")
        for product in names + ["x", "xy"] {
            #expect(try await decision(on: Request(product: product, expected: allowed), for: client) == allowed)
        }
        for product in ["com.example.p100", "com.example.p", "COM.EXAMPLE.P1", "cafe\u{301}", ""] {
            #expect(try await decision(on: Request(product: product, expected: allowed), for: client) != allowed)
        }
    }

    @Test("A denial names the requested item and nothing of the rules")
    func sentences() {
        for thing in [DeniedThing.app("x"), .feature("x"), .key("x"), .product("x"), .offer("x")] {
            let sentence = Denial(of: thing, client: "shop", origin: "gateway.yaml:31").description
            #expect(sentence.contains("\"x\"") && sentence.contains("shop") && !sentence.contains("gateway.yaml"))
        }
    }

    private static func denied(_ thing: DeniedThing, _ origin: String) -> Result<String, Denial> {
        .failure(Denial(of: thing, client: "shop", origin: origin))
    }

    private func decision(on request: Request, for client: ClientSettings) async throws -> Result<String, Denial> {
        let gateway = try await LimitedGateway()
        let directory = ClientDirectory(GatewaySettings(accounts: [], clients: [client]))
        return gateway.dispatcher.explain(
            client: try #require(directory.client(named: client.name)), app: request.app, feature: request.feature,
            keyID: request.key, product: request.product, offer: request.offer)
    }
}
