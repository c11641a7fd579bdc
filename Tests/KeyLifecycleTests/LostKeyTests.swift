import AuditKit
import Crypto
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle
@testable import Signing

@Suite("Compromised and destroyed keys")
struct LostKeyTests {
    @Test("A key that is not the register's signs nothing, also if it was opened before the register was read")
    func anotherKey() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.sign()
        var record = try #require(fixture.gateway.keyStates.records["ACTIVE"])
        record.fingerprint = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        fixture.gateway.keyStates.set([record])
        await #expect(throws: GatewayError.self) { try await fixture.sign() }
        let handle = try handle(fixture, "ACTIVE")
        #expect(handle.state.canSign && !handle.canSign)
        handle.compareWithRegister()
        #expect(handle.state.reason?.contains("pin it with publicKey") == true)
        await fixture.close()
    }

    private static let success = ProvisioningResult(isSuccess: true, fingerprint: nil, evidence: [:])

    private func handle(_ fixture: LifecycleTestGateway, _ keyID: String) throws -> KeyHandle {
        try #require(fixture.snapshots.current.ring.handles.first { $0.settings.keyID == keyID })
    }

    private func destruction(_ fixture: LifecycleTestGateway) -> ProvisioningOrder {
        ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: fixture.uri("late"), fingerprint: nil, reason: "x")
    }

    @Test("Restoring a compromised retired key makes it retired again")
    func restoredRetirement() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        for action in [KeyLifecycleAction.retire, .compromise, .restore] {
            _ = try await fixture.change(action, "OTHER")
        }
        #expect(fixture.state("OTHER") == .retired)
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.resume, "OTHER") }
        await fixture.close()
    }

    @Test("Restoring a compromised destroyed key makes it destroyed again, and it cannot be retired")
    func restoredDestruction() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let job = try #require(try await fixture.lifecycle.begin(destruction(fixture), by: "alice").begun)
        fixture.gateway.plain.place.remove("late")
        _ = try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        _ = try await fixture.change(.compromise, "OTHER")
        let error = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.retire, "OTHER") }
        #expect(error?.description.contains("there is nothing to retire") == true)
        _ = try await fixture.change(.restore, "OTHER")
        #expect(fixture.state("OTHER") == .destroyed)
        await fixture.close()
    }

    @Test("A second compromise keeps the time of the first")
    func secondCompromise() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(staging: true, clock: clock)
        _ = try await fixture.change(.compromise, "OTHER")
        let first = try #require(fixture.gateway.keyStates.records["OTHER"]?.compromisedAt)
        _ = try await fixture.change(.retire, "OTHER")
        clock.advance(by: .seconds(60))
        _ = try await fixture.change(.compromise, "OTHER")
        #expect(fixture.gateway.keyStates.records["OTHER"]?.compromisedAt == first)
        await fixture.close()
    }

    @Test(
        "A key of the register cannot be imported or generated under another ID",
        arguments: [KeyLifecycleAction.import, .generate])
    func secondID(_ action: KeyLifecycleAction) async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let fingerprint = try #require(try handle(fixture, "OTHER").fingerprint)
        _ = try await fixture.change(.compromise, "OTHER")
        let order = ProvisioningOrder(
            action, issuerID: "issuer", keyID: "SECOND", uri: fixture.uri("late"),
            fingerprint: action == .import ? fingerprint : nil, reason: "x")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
            let end = ProvisioningResult(isSuccess: true, fingerprint: fingerprint, evidence: [:])
            _ = try await fixture.lifecycle.finish(job.id, end, by: "alice")
        }
        #expect(error?.description.contains("is OTHER in the register, which is compromised") == true)
        #expect(fixture.state("SECOND") == nil)
        await fixture.close()
    }

    @Test("A compromised key under another ID is neither published nor activated")
    func secondIDInConfiguration() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let settings = try handle(fixture, "OTHER").settings
        _ = try await fixture.change(.compromise, "OTHER")
        try fixture.declare("SECOND", at: settings.uri.text)
        await fixture.snapshots.current.ring.openMissing()
        #expect(try !handle(fixture, "SECOND").isTrustworthy)
        let activation = KeyChangeOrder(.activate, "SECOND", reason: "x", retiring: "ACTIVE", overlap: 60, watch: 0)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(activation, by: "alice")
        }
        #expect(error?.description.contains("is OTHER in the register, which is compromised") == true)
        await fixture.close()
    }

    @Test("A compromised key stays unpublished after a change of its account's issuer ID")
    func movedIssuer() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.change(.compromise, "OTHER")
        fixture.reload { $0.accounts[0].issuerID = "another issuer" }
        #expect(try !handle(fixture, "OTHER").isTrustworthy)
        #expect(try handle(fixture, "ACTIVE").isTrustworthy)
        await fixture.close()
    }

    @Test("The register separates reported evidence from what the gateway saw")
    func evidence() async throws {
        let fixture = try await LifecycleTestGateway()
        let key = P256.Signing.PrivateKey()
        let order = ProvisioningOrder(
            .import, issuerID: "issuer", keyID: "NEW", uri: fixture.gateway.plain.place.add("new", key),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "x")
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        let end = ProvisioningResult(
            isSuccess: true, fingerprint: nil, evidence: ["CKA_LOCAL": "true", "seenBy": "another"])
        let record = try #require(try await fixture.lifecycle.finish(job.id, end, by: "alice").ended)
        let evidence = try #require(record.history.last?.evidence)
        #expect(evidence["reported.CKA_LOCAL"] == "true" && evidence["CKA_LOCAL"] == nil)
        #expect(evidence["reported.seenBy"] == "another" && evidence["seenBy"] == "the gateway")
        await fixture.close()
    }

    // MARK: Destructions

    @Test("A destruction does not end while a key answers at the configured URI")
    func otherName() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let place = fixture.gateway.plain.place
        var order = destruction(fixture)
        order.uri = try #require(place.copy("late", as: "second name"))
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        place.remove("second name")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("still sees one at \(fixture.uri("late"))") == true)
        place.remove("late")
        let record = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").ended)
        #expect(record.state == .destroyed)
        await fixture.close()
    }

    @Test("A destruction does not end while the key signs proofs")
    func stillSigns() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let place = fixture.gateway.plain.place
        try fixture.declare("COPY", at: try #require(place.copy("late", as: "copy")))
        await fixture.snapshots.current.ring.openMissing()
        let job = try #require(try await fixture.lifecycle.begin(destruction(fixture), by: "alice").begun)
        place.remove("late")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("COPY still signs with the key") == true)
        await fixture.close()
    }

    @Test("A destroyed key that signs proofs again is reported as a difference")
    func signsAgain() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let place = fixture.gateway.plain.place
        let job = try #require(try await fixture.lifecycle.begin(destruction(fixture), by: "alice").begun)
        _ = place.copy("late", as: "hidden")
        place.remove("late")
        _ = try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        let sentence = "is destroyed in the register, but still signs proofs"
        #expect(!fixture.lifecycle.overview().differences.contains { $0.contains(sentence) })
        _ = place.copy("hidden", as: "late")
        await fixture.snapshots.current.ring.prove()
        #expect(fixture.lifecycle.overview().differences.contains { $0.contains(sentence) })
        await fixture.close()
    }

    @Test("A key is not destroyed under the ID of another one", arguments: [true, false])
    func otherID(_ isConfiguredURI: Bool) async throws {
        let fixture = try await LifecycleTestGateway()
        let uri = try handle(fixture, "ACTIVE").settings.uri.text
        let name = try #require(uri.split(separator: "=").last.map(String.init))
        let copy = try #require(fixture.gateway.plain.place.copy(name, as: "copy"))
        let order = ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "TYPO", uri: isConfiguredURI ? uri : copy, fingerprint: nil,
            reason: "x")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "alice")
        }
        #expect(error?.description.contains("is ACTIVE, not TYPO") == true)
        await fixture.close()
    }

    @Test("A suspended key that is compromised under another ID is not resumed")
    func resumedUnderAnotherID() async throws {
        let fixture = try await LifecycleTestGateway()
        try fixture.declare("SECOND", at: try handle(fixture, "OTHER").settings.uri.text)
        await fixture.snapshots.current.ring.openMissing()
        _ = try await fixture.change(.suspend, "OTHER")
        _ = try await fixture.change(.compromise, "SECOND")
        let error = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.resume, "OTHER") }
        #expect(error?.description.contains("is SECOND in the register, which is compromised") == true)
        await fixture.close()
    }

    @Test("An active key that is compromised under another ID signs nothing, and a difference names both IDs")
    func compromisedTwin() async throws {
        let fixture = try await LifecycleTestGateway()
        try fixture.declare("SECOND", at: try handle(fixture, "ACTIVE").settings.uri.text)
        await fixture.snapshots.current.ring.openMissing()
        let sentence = "The keys ACTIVE and SECOND have the same private key"
        #expect(fixture.lifecycle.overview().differences.contains { $0.hasPrefix("\(sentence). ") })
        _ = try await fixture.sign()
        _ = try await fixture.change(.compromise, "SECOND")
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await fixture.sign() }
        await #expect(throws: GatewayError.self) { try await fixture.sign(keyID: "ACTIVE") }
        #expect(
            fixture.lifecycle.overview().differences.contains {
                $0.hasPrefix("\(sentence), and one of them is compromised")
            })
        await fixture.close()
    }

    @Test("Two IDs of one key are no difference after one of them is retired and no longer configured")
    func retiredTwin() async throws {
        let fixture = try await LifecycleTestGateway()
        try fixture.declare("SECOND", at: try handle(fixture, "ACTIVE").settings.uri.text)
        await fixture.snapshots.current.ring.openMissing()
        #expect(fixture.lifecycle.overview().differences.contains { $0.contains("the same private key") })
        _ = try await fixture.change(.retire, "SECOND")
        fixture.reload { _ in }
        #expect(!fixture.lifecycle.overview().differences.contains { $0.contains("the same private key") })
        await fixture.close()
    }

    @Test("A destruction must name the token of the configuration")
    func otherToken() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let elsewhere = FakeBackendLocation("elsewhere \(fixture.gateway.plain.place.name)")
        var order = destruction(fixture)
        order.uri = elsewhere.add("late")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "alice")
        }
        #expect(error?.description.contains("The configuration names OTHER at") == true)
        await fixture.close()
    }
}
