import AuditLog
import Foundation
import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import StrictJSON
import Synchronization
import Testing

@Suite("The dispatcher")
struct DispatcherTests {
    @Test("The dispatcher signs with the named key, or with the active key by default")
    func choosesKey() async throws {
        let gateway = try await TestGateway()
        #expect(try gateway.isValid(await gateway.sign(), by: "active"))
        #expect(try gateway.isValid(await gateway.sign(keyID: "OTHER"), by: "other"))
    }

    @Test("Unconfigured apps, features and keys are refused by name")
    func unknownNames() async throws {
        let gateway = try await TestGateway()
        #expect(throws: GatewayError.unknownApp("com.example.none")) {
            try gateway.dispatcher.resolve(for: .operator, app: "com.example.none", feature: "promotional-offer")
        }
        for feature in ["promotional", "legacy-promotional-offer", ""] {
            #expect(throws: GatewayError.unknownFeature(feature, app: TestGateway.app)) {
                try gateway.dispatcher.resolve(for: .operator, app: TestGateway.app, feature: feature)
            }
        }
        for keyID in ["active", "", "ACTIVE "] {
            #expect(throws: GatewayError.unknownKey(keyID, app: TestGateway.app)) {
                try gateway.dispatcher.resolve(
                    for: .operator, app: TestGateway.app, feature: "promotional-offer", keyID: keyID)
            }
        }
    }

    @Test("A feature that the app lacks is refused")
    func featureOfTheApp() async throws {
        let gateway = try await TestGateway { $0.accounts[0].apps[0].features = [] }
        await #expect(throws: GatewayError.unknownFeature("promotional-offer", app: TestGateway.app)) {
            try await gateway.sign()
        }
    }

    @Test("Two apps whose bundle IDs differ only in Unicode form are both served")
    func unicodeForms() async throws {
        let forms = ["com.example.caf\u{E9}", "com.example.cafe\u{301}"]
        let gateway = try await TestGateway { settings in
            settings.accounts[0].apps = forms.map { AppSettings(bundleID: $0, features: ["promotional-offer"]) }
        }
        for form in forms {
            let route = try gateway.dispatcher.resolve(for: .operator, app: form, feature: "promotional-offer")
            #expect(Array(route.app.bundleID.utf8) == Array(form.utf8))
        }
    }

    @Test("An invalid request never reaches the key")
    func badRequest() async throws {
        let gateway = try await TestGateway()
        let before = gateway.place.counts.signatures
        for body in ["", "{", "[]", #"{"productId":"p"}"#, #"{"productId":"p","offerIdentifier":"o","x":1}"#] {
            await #expect(throws: GatewayError.self) { try await gateway.sign(body: Array(body.utf8)) }
        }
        #expect(gateway.place.counts.signatures == before)
    }

    @Test("The grant issuer gives each signature a new time and nonce")
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

    @Test("The error of a key names the key ID")
    func keyFailure() async throws {
        let gateway = try await TestGateway()
        for fault in [KeyError.busy, .unavailable("gone"), .failed("no"), .closed] {
            gateway.place.failNext(fault)
            await #expect(throws: GatewayError.key(fault, keyID: "ACTIVE")) { try await gateway.sign() }
        }
        _ = try await gateway.sign()
    }

    @Test("Nonces of the system are unique version 4 UUIDs")
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
        let time = Double(Timestamp.now().milliseconds)
        #expect(time >= before.rounded(.down) && time <= Date.now.timeIntervalSince1970 * 1000 + 1)
    }
}
