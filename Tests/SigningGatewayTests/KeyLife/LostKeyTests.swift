import AuditKit
import Crypto
import SigningKit
import SigningKitTesting
import Testing

@testable import SigningGateway

@Suite("Keys that were compromised or destroyed")
struct LostKeyTests {
    private static let success = KeyCeremonyEnd(isSuccess: true, fingerprint: nil, evidence: [:])

    private func slot(_ house: KeyHouse, _ keyID: String) throws -> KeySlot {
        try #require(house.live.current.ring.slots.first { $0.plan.keyID == keyID })
    }

    private func destruction(_ house: KeyHouse) -> KeyCeremonyOrder {
        KeyCeremonyOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: house.uri("late"), fingerprint: nil, reason: "x")
    }

    @Test("A retired key that was compromised is retired again when it is restored")
    func restoredRetirement() async throws {
        let house = try await KeyHouse(staging: true)
        for action in [KeyLifeAction.retire, .compromise, .restore] { _ = try await house.change(action, "OTHER") }
        #expect(house.state("OTHER") == .retired)
        await #expect(throws: KeyLifeRefusal.self) { try await house.change(.resume, "OTHER") }
        await house.close()
    }

    @Test("A destroyed key that was compromised is destroyed again when it is restored, and is never retired")
    func restoredDestruction() async throws {
        let house = try await KeyHouse(staging: true)
        guard case .begun(let job) = try await house.office.begin(destruction(house), by: "alice") else { return }
        house.gateway.plain.place.remove("late")
        _ = try await house.office.finish(job.id, Self.success, by: "alice")
        _ = try await house.change(.compromise, "OTHER")
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.change(.retire, "OTHER") }
        #expect(error?.description.contains("there is nothing to retire") == true)
        _ = try await house.change(.restore, "OTHER")
        #expect(house.state("OTHER") == .destroyed)
        await house.close()
    }

    @Test("A second compromise of a key that is retired since leaves the time of the first")
    func secondCompromise() async throws {
        let clock = SteppedClock()
        let house = try await KeyHouse(staging: true, clock: clock)
        _ = try await house.change(.compromise, "OTHER")
        let first = try #require(house.gateway.audit.keys.records["OTHER"]?.compromisedAt)
        _ = try await house.change(.retire, "OTHER")
        clock.advance(by: .seconds(60))
        _ = try await house.change(.compromise, "OTHER")
        #expect(house.gateway.audit.keys.records["OTHER"]?.compromisedAt == first)
        await house.close()
    }

    @Test(
        "A key of the register does not come in again under another ID", arguments: [KeyLifeAction.import, .generate])
    func secondID(_ action: KeyLifeAction) async throws {
        let house = try await KeyHouse(staging: true)
        let fingerprint = try #require(try slot(house, "OTHER").fingerprint)
        _ = try await house.change(.compromise, "OTHER")
        let order = KeyCeremonyOrder(
            action, issuerID: "issuer", keyID: "SECOND", uri: house.uri("late"),
            fingerprint: action == .import ? fingerprint : nil, reason: "x")
        let error = await #expect(throws: KeyLifeRefusal.self) {
            guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
            let end = KeyCeremonyEnd(isSuccess: true, fingerprint: fingerprint, evidence: [:])
            _ = try await house.office.finish(job.id, end, by: "alice")
        }
        #expect(error?.description.contains("is OTHER in the register, which is compromised") == true)
        #expect(house.state("SECOND") == nil)
        await house.close()
    }

    @Test("A compromised key that the configuration names under another ID is neither published nor activated")
    func secondIDInConfiguration() async throws {
        let house = try await KeyHouse(staging: true)
        let plan = try slot(house, "OTHER").plan
        _ = try await house.change(.compromise, "OTHER")
        try house.declare("SECOND", at: plan.uri.text)
        await house.live.current.ring.openMissing()
        #expect(try !slot(house, "SECOND").isTrustworthy)
        let activation = KeyChangeOrder(.activate, "SECOND", reason: "x", retiring: "ACTIVE", overlap: 60, watch: 0)
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.change(activation, by: "alice")
        }
        #expect(error?.description.contains("is OTHER in the register, which is compromised") == true)
        await house.close()
    }

    @Test("A compromised key is not published after a change of its account's issuer ID")
    func movedIssuer() async throws {
        let house = try await KeyHouse()
        _ = try await house.change(.compromise, "OTHER")
        house.reload { $0.accounts[0].issuerID = "another issuer" }
        #expect(try !slot(house, "OTHER").isTrustworthy)
        #expect(try slot(house, "ACTIVE").isTrustworthy)
        await house.close()
    }

    @Test("The register tells what the worker reported from what the gateway saw")
    func evidence() async throws {
        let house = try await KeyHouse()
        let key = P256.Signing.PrivateKey()
        let order = KeyCeremonyOrder(
            .import, issuerID: "issuer", keyID: "NEW", uri: house.gateway.plain.place.add("new", key),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "x")
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
        let end = KeyCeremonyEnd(
            isSuccess: true, fingerprint: nil, evidence: ["CKA_LOCAL": "true", "seenBy": "another"])
        guard case .ended(let record) = try await house.office.finish(job.id, end, by: "alice") else { return }
        let evidence = try #require(record.history.last?.evidence)
        #expect(evidence["reported.CKA_LOCAL"] == "true" && evidence["CKA_LOCAL"] == nil)
        #expect(evidence["reported.seenBy"] == "another" && evidence["seenBy"] == "the gateway")
        await house.close()
    }

    // MARK: Destructions

    @Test("A key that answers at the URI of the configuration was not destroyed, whatever the order names")
    func otherName() async throws {
        let house = try await KeyHouse(staging: true)
        let place = house.gateway.plain.place
        var order = destruction(house)
        order.uri = try #require(place.copy("late", as: "second name"))
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
        place.remove("second name")
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("still sees one at \(house.uri("late"))") == true)
        place.remove("late")
        guard case .ended(let record) = try await house.office.finish(job.id, Self.success, by: "alice") else { return }
        #expect(record.state == .destroyed)
        await house.close()
    }

    @Test("A key that still signs a proof was not destroyed")
    func stillSigns() async throws {
        let house = try await KeyHouse(staging: true)
        let place = house.gateway.plain.place
        try house.declare("COPY", at: try #require(place.copy("late", as: "copy")))
        await house.live.current.ring.openMissing()
        guard case .begun(let job) = try await house.office.begin(destruction(house), by: "alice") else { return }
        place.remove("late")
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("COPY still signs with it") == true)
        await house.close()
    }

    @Test("A destroyed key that signs proofs again is a difference")
    func signsAgain() async throws {
        let house = try await KeyHouse(staging: true)
        let place = house.gateway.plain.place
        guard case .begun(let job) = try await house.office.begin(destruction(house), by: "alice") else { return }
        _ = place.copy("late", as: "hidden")
        place.remove("late")
        _ = try await house.office.finish(job.id, Self.success, by: "alice")
        let sentence = "is destroyed in the register, but still signs proofs"
        #expect(!house.office.overview().differences.contains { $0.contains(sentence) })
        _ = place.copy("hidden", as: "late")
        await house.live.current.ring.prove()
        #expect(house.office.overview().differences.contains { $0.contains(sentence) })
        await house.close()
    }

    @Test("A key is not destroyed under the ID of another one", arguments: [true, false])
    func otherID(_ isConfiguredURI: Bool) async throws {
        let house = try await KeyHouse()
        let uri = try slot(house, "ACTIVE").plan.uri.text
        let name = try #require(uri.split(separator: "=").last.map(String.init))
        let copy = try #require(house.gateway.plain.place.copy(name, as: "copy"))
        let order = KeyCeremonyOrder(
            .destroy, issuerID: "issuer", keyID: "TYPO", uri: isConfiguredURI ? uri : copy, fingerprint: nil,
            reason: "x")
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "alice") }
        #expect(error?.description.contains("is ACTIVE, not TYPO") == true)
        await house.close()
    }

    @Test("A suspended key that is compromised under another ID is not resumed")
    func resumedUnderAnotherID() async throws {
        let house = try await KeyHouse()
        try house.declare("SECOND", at: try slot(house, "OTHER").plan.uri.text)
        await house.live.current.ring.openMissing()
        _ = try await house.change(.suspend, "OTHER")
        _ = try await house.change(.compromise, "SECOND")
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.change(.resume, "OTHER") }
        #expect(error?.description.contains("is SECOND in the register, which is compromised") == true)
        await house.close()
    }

    @Test("A key is destroyed on the token where the configuration has it")
    func otherToken() async throws {
        let house = try await KeyHouse(staging: true)
        let elsewhere = FakePlace("elsewhere \(house.gateway.plain.place.name)")
        var order = destruction(house)
        order.uri = elsewhere.add("late")
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "alice") }
        #expect(error?.description.contains("The configuration names OTHER at") == true)
        await house.close()
    }
}
