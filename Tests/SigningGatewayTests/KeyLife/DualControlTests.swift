import AuditKit
import Crypto
import SigningGateway
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Two administrators")
struct DualControlTests {
    private static let activation = KeyChangeOrder(
        .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)

    private func house(countsOperator: Bool = true, staging: Bool = false) async throws -> KeyHouse {
        try await KeyHouse(staging: staging) {
            $0.accounts[0].hasDualControl = true
            $0.accounts[0].countsOperator = countsOperator
        }
    }

    private func proposal(
        _ house: KeyHouse, _ order: KeyChangeOrder = DualControlTests.activation, by actor: Administrator = "alice"
    ) async throws -> KeyProposal {
        guard case .proposed(let proposal) = try await house.office.change(order, by: actor) else {
            throw NotProposed()
        }
        return proposal
    }

    private struct NotProposed: Error {}

    /// Orders work, has it approved, and begins it.
    private func begun(
        _ house: KeyHouse, _ order: KeyCeremonyOrder, by actor: Administrator = "alice"
    ) async throws -> KeyCeremony {
        guard case .proposed(let proposal) = try await house.office.begin(order, by: actor) else {
            throw NotProposed()
        }
        _ = try await house.office.approve(proposal.id, digest: proposal.digest, by: "bob")
        guard case .begun(let ceremony) = try await house.office.begin(order, by: actor) else { throw NotProposed() }
        return ceremony
    }

    private func importOrder(_ house: KeyHouse, _ key: P256.Signing.PrivateKey, keyID: String = "NEW")
        -> KeyCeremonyOrder
    {
        KeyCeremonyOrder(
            .import, issuerID: "issuer", keyID: keyID, uri: house.uri(keyID.lowercased()),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "The next key.")
    }

    private static let success = KeyCeremonyEnd(isSuccess: true, fingerprint: nil, evidence: ["method": "unwrap"])

    // MARK: Guards

    @Test("A client that is no administrator any more approves nothing")
    func approverLeaves() async throws {
        let house = try await house()
        let proposal = try await proposal(house)
        house.reload { $0.clients.removeAll { $0.name == "bob" } }
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.approve(proposal.id, digest: proposal.digest, by: "bob")
        }
        #expect(error?.description.contains("bob has proposed or approved") == true)
        await house.close()
    }

    @Test("An activation that was proposed before a destruction began is refused when it is approved")
    func approvalAsksTheRules() async throws {
        let house = try await house(staging: true)
        let old = try await proposal(house)
        _ = try await begun(
            house,
            KeyCeremonyOrder(
                .destroy, issuerID: "issuer", keyID: "OTHER", uri: house.uri("late"), fingerprint: nil, reason: "x"))
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.approve(old.id, digest: old.digest, by: "bob")
        }
        #expect(error?.description.contains("The destruction of OTHER has begun") == true)
        #expect(house.state("OTHER") == .staged && house.state("ACTIVE") == .active)
        await house.close()
    }

    @Test("An approval and the change that it allows are one transaction")
    func approvalIsUsedOnce() async throws {
        let house = try await house()
        let activation = try await proposal(house)
        let before = house.gateway.store.content.entries.count
        _ = try await house.office.approve(activation.id, digest: activation.digest, by: "bob")
        let told = house.gateway.store.content.entries.dropFirst(before).compactMap { EntryFields($0.body) }
        #expect(told.filter { $0.kind == "life" }.map { $0.text("event") } == ["changed", "changed", "approved"])
        #expect(Set(told.filter { $0.kind == "life" }.map(\.time)).count == 1)
        #expect(house.office.overview().proposals.isEmpty)
        await house.close()
    }

    // MARK: Persons

    @Test(
        "One person cannot propose and approve",
        arguments: [
            Administrator(name: "alice", proofs: ["other"]),
            Administrator(name: "alice renamed", proofs: ["other", "token of alice"]),
        ])
    func samePerson(_ approver: Administrator) async throws {
        let house = try await house()
        let proposal = try await proposal(house)
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.approve(proposal.id, digest: proposal.digest, by: approver)
        }
        #expect(error?.description.contains("another administrator has to approve") == true)
        await house.close()
    }

    @Test("A client with root's uid is the same person as operator")
    func operatorIsTheClientWithItsUID() async throws {
        let plan = ClientPlan(name: "ann", isAdministrator: true, uids: [0])
        let ann = try #require(ClientDirectory(GatewayPlan(accounts: [], clients: [plan])).clients.first).administrator
        let house = try await house()
        let proposal = try await proposal(house, by: .operator(uid: 900))
        await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.approve(proposal.id, digest: proposal.digest, by: ann)
        }
        _ = try await house.office.approve(proposal.id, digest: proposal.digest, by: "bob")
        await house.close()
    }

    @Test("On the admin socket, a uid of exactly one administrator is that administrator")
    func uidOfAdministrator() {
        let clients = [
            ClientPlan(name: "ann", isAdministrator: true, uids: [0, 7]),
            ClientPlan(name: "bob", isAdministrator: true, uids: [7]), ClientPlan(name: "shop", uids: [8]),
        ]
        let directory = ClientDirectory(GatewayPlan(accounts: [], clients: clients))
        #expect([0, 7, 8, 9].map { directory.administrator(uid: $0)?.name } == ["ann", nil, nil, nil])
    }

    @Test("Operator neither proposes nor approves in an account that does not count it")
    func excludedOperator() async throws {
        let house = try await house(countsOperator: false)
        let root = Administrator.operator(uid: 900)
        let proposal = try await proposal(house)
        let refusals = [
            await #expect(throws: KeyLifeRefusal.self) { try await house.office.change(Self.activation, by: root) },
            await #expect(throws: KeyLifeRefusal.self) {
                try await house.office.approve(proposal.id, digest: proposal.digest, by: root)
            },
            await #expect(throws: KeyLifeRefusal.self) {
                try await house.office.begin(importOrder(house, P256.Signing.PrivateKey()), by: root)
            },
        ]
        for refusal in refusals { #expect(refusal?.description.contains("dualControl: {operator: false}") == true) }
        // One administrator can stop a key.
        _ = try await house.office.change(KeyChangeOrder(.suspend, "OTHER", reason: "x"), by: root)
        await house.close()
    }

    // MARK: What is approved

    @Test("An approval counts for the proposal whose digest it names")
    func digest() async throws {
        let house = try await house()
        let proposal = try await proposal(house)
        var other = proposal
        other.details["overlap"] = "1"
        for wrong in [other.digest, "", "sha256:"] {
            let error = await #expect(throws: KeyLifeRefusal.self) {
                try await house.office.approve(proposal.id, digest: wrong, by: "bob")
            }
            #expect(error?.description.contains(proposal.digest) == true)
        }
        _ = try await house.office.approve(proposal.id, digest: proposal.digest, by: "bob")
        await house.close()
    }

    @Test("An import without a fingerprint is refused")
    func importNamesItsKey() async throws {
        let house = try await house()
        var order = importOrder(house, P256.Signing.PrivateKey())
        order.fingerprint = nil
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "alice") }
        #expect(error?.description.contains("An import names the key by its fingerprint") == true)
        await house.close()
    }

    @Test("A text that is no fingerprint is an error, not an order without one")
    func invalidFingerprint() throws {
        let text =
            #"{"action":"import","issuerId":"i","keyId":"k","uri":"fake:x","fingerprint":"sha256:12","reason":"x"}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect(throws: JSONReadError.self) { try KeyCeremonyOrder(from: root) }
    }

    // MARK: Work on tokens

    @Test("The approver of a job may not carry it out")
    func approverDoesNotWork() async throws {
        let house = try await house()
        let order = importOrder(house, P256.Signing.PrivateKey())
        guard case .proposed(let proposal) = try await house.office.begin(order, by: "alice") else { return }
        _ = try await house.office.approve(proposal.id, digest: proposal.digest, by: "bob")
        let error = await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "bob") }
        #expect(error?.description.contains("may not carry it out") == true)
        await house.close()
    }

    @Test("Only the administrator who began a job ends it, and the register names the administrator")
    func onlyTheWorkerEnds() async throws {
        let house = try await KeyHouse()
        let key = P256.Signing.PrivateKey()
        guard case .begun(let job) = try await house.office.begin(importOrder(house, key), by: "alice") else { return }
        house.gateway.plain.place.add("new", key)
        for isSuccess in [true, false] {
            let end = KeyCeremonyEnd(isSuccess: isSuccess, fingerprint: nil, evidence: [:])
            let error = await #expect(throws: KeyLifeRefusal.self) {
                try await house.office.finish(job.id, end, by: "bob")
            }
            #expect(error?.description.contains("alice does this work, and ends it.") == true)
        }
        guard case .ended(let record) = try await house.office.finish(job.id, Self.success, by: "alice") else {
            Issue.record("It did not end.")
            return
        }
        #expect(record.history.last?.evidence["endedBy"] == "alice")
        #expect(record.history.last?.evidence["seenBy"] == "the gateway")
        await house.close()
    }

    @Test("Another administrator takes a job over when a second one approves it")
    func takeover() async throws {
        let house = try await KeyHouse()
        let key = P256.Signing.PrivateKey()
        let order = importOrder(house, key)
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
        guard case .proposed(let proposal) = try await house.office.begin(order, by: "bob") else {
            Issue.record("It was taken over by one.")
            return
        }
        _ = try await house.office.approve(proposal.id, digest: proposal.digest, by: "carol")
        await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "carol") }
        guard case .begun(let taken) = try await house.office.begin(order, by: "bob") else { return }
        #expect(taken.id == job.id && taken.worker == "bob")
        house.gateway.plain.place.add("new", key)
        await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        guard case .ended(let record) = try await house.office.finish(job.id, Self.success, by: "bob") else { return }
        #expect(record.history.last?.evidence["endedBy"] == "bob")
        await house.close()
    }

    @Test("A job does not end while the gateway sees no key, or another key")
    func theGatewayLooks() async throws {
        let house = try await house()
        let key = P256.Signing.PrivateKey()
        let job = try await begun(house, importOrder(house, key))
        let absent = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        #expect(absent?.description.contains("The gateway sees no key at") == true)
        house.gateway.plain.place.add("new")
        let other = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        #expect(other?.description.contains("is another one") == true)
        #expect(house.state("NEW") == nil)
        house.gateway.plain.place.add("new", key)
        guard case .ended = try await house.office.finish(job.id, Self.success, by: "alice") else {
            Issue.record("It did not end.")
            return
        }
        await house.close()
    }

    @Test("A key that is still there was not destroyed")
    func destructionIsSeen() async throws {
        let house = try await KeyHouse(staging: true)
        let order = KeyCeremonyOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: house.uri("late"), fingerprint: nil, reason: "x")
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
        let error = await #expect(throws: KeyLifeRefusal.self) {
            try await house.office.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("The gateway still sees a key") == true)
        house.gateway.plain.place.remove("late")
        guard case .ended(let record) = try await house.office.finish(job.id, Self.success, by: "alice") else { return }
        #expect(record.state == .destroyed)
        await house.close()
    }

    @Test(
        "A destruction names a place where the gateway sees the key, or the place of the configuration",
        arguments: ["nothing", "fake:nowhere;key=late"])
    func destructionOfNothing(_ place: String) async throws {
        let house = try await KeyHouse(staging: true)
        let order = KeyCeremonyOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: place.contains(":") ? place : house.uri(place),
            fingerprint: nil, reason: "x")
        await #expect(throws: KeyLifeRefusal.self) { try await house.office.begin(order, by: "alice") }
        #expect(house.office.overview().ceremonies.isEmpty)
        await house.close()
    }

    @Test("A job in a place that the configuration does not name waits until the gateway can look there")
    func waiting() async throws {
        let house = try await KeyHouse()
        let (key, place) = (P256.Signing.PrivateKey(), FakePlace("elsewhere \(house.gateway.plain.place.name)"))
        let uri = place.add("new", key)
        var order = importOrder(house, key)
        order.uri = uri
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { return }
        guard case .waiting(let waiting) = try await house.office.finish(job.id, Self.success, by: "alice") else {
            Issue.record("It ended, and the gateway could not look.")
            return
        }
        #expect(house.state("NEW") == nil && house.office.overview().ceremonies == [waiting])
        try house.declare("NEW", at: uri)
        let running = Task { try await house.office.run() }
        await house.gateway.until { house.office.overview().ceremonies.isEmpty }
        running.cancel()
        try await running.value
        let record = try #require(house.gateway.audit.keys.records["NEW"])
        #expect(record.provenance == .imported && record.state == .staged)
        #expect(record.history.last?.evidence["reported.method"] == "unwrap")
        await house.close()
    }
}
