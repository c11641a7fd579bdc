import Foundation
import SigningGateway
import SigningKit
import SigningKitTesting
import StrictJSON
import Synchronization
import Testing

@Suite("The dispatcher")
struct DispatcherTests {
    @Test("Signs with the active key when none is named, and with the one that is named")
    func choosesKey() async throws {
        let gateway = try await TestGateway()
        #expect(try gateway.isValid(await gateway.sign(), by: "active"))
        #expect(try gateway.isValid(await gateway.sign(keyID: "OTHER"), by: "other"))
    }

    @Test("Names that nobody configured are refused, each as itself")
    func unknownNames() async throws {
        let gateway = try await TestGateway()
        #expect(throws: GatewayError.unknownApp("com.example.none")) {
            try gateway.dispatcher.route(for: .operator, app: "com.example.none", feature: "promotional-offer")
        }
        for feature in ["promotional", "legacy-promotional-offer", ""] {
            #expect(throws: GatewayError.unknownFeature(feature, app: TestGateway.app)) {
                try gateway.dispatcher.route(for: .operator, app: TestGateway.app, feature: feature)
            }
        }
        for keyID in ["active", "", "ACTIVE "] {
            #expect(throws: GatewayError.unknownKey(keyID, app: TestGateway.app)) {
                try gateway.dispatcher.route(
                    for: .operator, app: TestGateway.app, feature: "promotional-offer", keyID: keyID)
            }
        }
    }

    @Test("A feature that the app does not have is not served, though the program has it")
    func featureOfTheApp() async throws {
        let gateway = try await TestGateway { $0.accounts[0].apps[0].features = [] }
        await #expect(throws: GatewayError.unknownFeature("promotional-offer", app: TestGateway.app)) {
            try await gateway.sign()
        }
    }

    @Test("Two apps whose bundle IDs differ only in their Unicode form are both served, each under its own bytes")
    func unicodeForms() async throws {
        let forms = ["com.example.caf\u{E9}", "com.example.cafe\u{301}"]
        let gateway = try await TestGateway { plan in
            plan.accounts[0].apps = forms.map { AppPlan(bundleID: $0, features: ["promotional-offer"]) }
        }
        for form in forms {
            let route = try gateway.dispatcher.route(for: .operator, app: form, feature: "promotional-offer")
            #expect(Array(route.app.bundleID.utf8) == Array(form.utf8))
        }
    }

    @Test("A bad request never reaches the key")
    func badRequest() async throws {
        let gateway = try await TestGateway()
        let before = gateway.place.counts.signatures
        for body in ["", "{", "[]", #"{"productId":"p"}"#, #"{"productId":"p","offerIdentifier":"o","x":1}"#] {
            await #expect(throws: GatewayError.self) { try await gateway.sign(body: Array(body.utf8)) }
        }
        #expect(gateway.place.counts.signatures == before)
    }

    @Test("Time and nonce come from the grant issuer, anew for each signature")
    func grants() async throws {
        let count = Atomic<UInt64>(0)
        let issuer = GrantIssuer(
            now: { Timestamp(milliseconds: 1_698_148_900_999) },
            nonce: { Nonce(random: 0, count.add(1, ordering: .relaxed).newValue) })
        let gateway = try await TestGateway(grants: issuer)
        for number in 1...3 {
            let answer = String(decoding: try await gateway.sign(), as: UTF8.self)
            #expect(answer.contains(#""issuedAt":1698148900"#))
            #expect(answer.contains(#""nonce":"00000000-0000-4000-8000-00000000000\#(number)""#))
        }
    }

    @Test("A key's failure is told with the key's ID")
    func keyFailure() async throws {
        let gateway = try await TestGateway()
        for fault in [KeyError.busy, .unavailable("gone"), .failed("no"), .closed] {
            gateway.place.failNext(fault)
            await #expect(throws: GatewayError.key(fault, keyID: "ACTIVE")) { try await gateway.sign() }
        }
        _ = try await gateway.sign()
    }

    @Test("Nonces of the system are version 4 UUIDs, and none comes twice")
    func systemNonces() {
        let issuer = GrantIssuer()
        let app = AppIdentity(bundleID: "b", issuerID: "i", keyID: "k")
        let nonces = (0..<10_000).map { _ in issuer.issue(for: app).nonce.description }
        #expect(Set(nonces).count == nonces.count)
        #expect(nonces.allSatisfy { UUID(uuidString: $0)?.uuidString.lowercased() == $0 })
        #expect(nonces.allSatisfy { Array($0)[14] == "4" && "89ab".contains(Array($0)[19]) })
    }

    @Test("The system's time is the time of day")
    func systemTime() {
        let before = Date.now.timeIntervalSince1970 * 1000
        let time = Double(GrantIssuer.systemTime().milliseconds)
        #expect(time >= before.rounded(.down) && time <= Date.now.timeIntervalSince1970 * 1000 + 1)
    }
}
