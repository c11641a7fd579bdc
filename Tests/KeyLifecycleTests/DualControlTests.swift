import AuditKit
import Crypto
import GatewayTesting
import KeyLifecycle
import Signing
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Dual control")
struct DualControlTests {
    private static let activation = KeyChangeOrder(
        .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)

    private func fixture(countsOperator: Bool = true, staging: Bool = false) async throws -> LifecycleTestGateway {
        try await LifecycleTestGateway(staging: staging) {
            $0.accounts[0].hasDualControl = true
            $0.accounts[0].countsOperator = countsOperator
        }
    }

    private func proposal(
        _ fixture: LifecycleTestGateway, _ order: KeyChangeOrder = DualControlTests.activation,
        by actor: Administrator = "alice"
    ) async throws -> KeyProposal {
        try #require(try await fixture.lifecycle.change(order, by: actor).proposed)
    }

    /// Orders a provisioning job, has it approved, and begins it.
    private func begun(
        _ fixture: LifecycleTestGateway, _ order: ProvisioningOrder, by actor: Administrator = "alice"
    ) async throws -> ProvisioningJob {
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: actor).proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        return try #require(try await fixture.lifecycle.begin(order, by: actor).begun)
    }

    private func importOrder(_ fixture: LifecycleTestGateway, _ key: P256.Signing.PrivateKey, keyID: String = "NEW")
        -> ProvisioningOrder
    {
        ProvisioningOrder(
            .import, issuerID: "issuer", keyID: keyID, uri: fixture.uri(keyID.lowercased()),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "The next key.")
    }

    private static let success = ProvisioningResult(isSuccess: true, fingerprint: nil, evidence: ["method": "unwrap"])

    // MARK: Rules at approval

    @Test("A former administrator cannot approve a proposal")
    func approverLeaves() async throws {
        let fixture = try await fixture()
        let proposal = try await proposal(fixture)
        fixture.reload { $0.clients.removeAll { $0.name == "bob" } }
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        }
        #expect(error?.description.contains("bob proposed or approved") == true)
        await fixture.close()
    }

    @Test("The approval of an activation fails if a destruction began after the proposal")
    func approvalAsksTheRules() async throws {
        let fixture = try await fixture(staging: true)
        let old = try await proposal(fixture)
        _ = try await begun(
            fixture,
            ProvisioningOrder(
                .destroy, issuerID: "issuer", keyID: "OTHER", uri: fixture.uri("late"), fingerprint: nil, reason: "x"))
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(old.id, digest: old.digest, by: "bob")
        }
        #expect(error?.description.contains("The destruction of OTHER has begun") == true)
        #expect(fixture.state("OTHER") == .staged && fixture.state("ACTIVE") == .active)
        await fixture.close()
    }

    @Test("An approval and its change are one transaction")
    func approvalIsUsedOnce() async throws {
        let fixture = try await fixture()
        let activation = try await proposal(fixture)
        let before = fixture.gateway.store.content.entries.count
        _ = try await fixture.lifecycle.approve(activation.id, digest: activation.digest, by: "bob")
        let told = fixture.gateway.store.content.entries.dropFirst(before).compactMap { EntryFields($0.body) }
        #expect(told.filter { $0.kind == "life" }.map { $0.text("event") } == ["changed", "changed", "approved"])
        #expect(Set(told.filter { $0.kind == "life" }.map(\.time)).count == 1)
        #expect(fixture.lifecycle.overview().proposals.isEmpty)
        await fixture.close()
    }

    // MARK: Administrators

    @Test(
        "One person cannot propose and approve",
        arguments: [
            Administrator(name: "alice", proofs: ["other"]),
            Administrator(name: "alice renamed", proofs: ["other", "token of alice"]),
        ])
    func samePerson(_ approver: Administrator) async throws {
        let fixture = try await fixture()
        let proposal = try await proposal(fixture)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: approver)
        }
        #expect(error?.description.contains("another administrator has to approve") == true)
        await fixture.close()
    }

    @Test("A client with uid 0 is the same person as operator")
    func operatorIsTheClientWithItsUID() async throws {
        let settings = ClientSettings(name: "ann", isAdministrator: true, uids: [0])
        let ann = try #require(ClientDirectory(GatewaySettings(accounts: [], clients: [settings])).clients.first)
            .administrator
        let fixture = try await fixture()
        let proposal = try await proposal(fixture, by: .operator(uid: 900))
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: ann)
        }
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        await fixture.close()
    }

    @Test("On the admin socket, a uid identifies the only administrator that has it")
    func uidOfAdministrator() {
        let clients = [
            ClientSettings(name: "ann", isAdministrator: true, uids: [0, 7]),
            ClientSettings(name: "bob", isAdministrator: true, uids: [7]), ClientSettings(name: "shop", uids: [8]),
        ]
        let directory = ClientDirectory(GatewaySettings(accounts: [], clients: clients))
        #expect([0, 7, 8, 9].map { directory.administrator(uid: $0)?.name } == ["ann", nil, nil, nil])
    }

    @Test("operator neither proposes nor approves in an account that excludes it")
    func excludedOperator() async throws {
        let fixture = try await fixture(countsOperator: false)
        let root = Administrator.operator(uid: 900)
        let proposal = try await proposal(fixture)
        let refusals = [
            await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.change(Self.activation, by: root)
            },
            await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: root)
            },
            await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.begin(importOrder(fixture, P256.Signing.PrivateKey()), by: root)
            },
        ]
        for refusal in refusals { #expect(refusal?.description.contains("dualControl: {operator: false}") == true) }
        // One administrator can stop a key.
        _ = try await fixture.lifecycle.change(KeyChangeOrder(.suspend, "OTHER", reason: "x"), by: root)
        await fixture.close()
    }

    // MARK: The approved proposal

    @Test("An approval must name the digest of the proposal")
    func digest() async throws {
        let fixture = try await fixture()
        let proposal = try await proposal(fixture)
        var other = proposal
        other.details["overlap"] = "1"
        for wrong in [other.digest, "", "sha256:"] {
            let error = await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.approve(proposal.id, digest: wrong, by: "bob")
            }
            #expect(error?.description.contains(proposal.digest) == true)
        }
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        await fixture.close()
    }

    @Test("An import without a fingerprint is refused")
    func importNamesItsKey() async throws {
        let fixture = try await fixture()
        var order = importOrder(fixture, P256.Signing.PrivateKey())
        order.fingerprint = nil
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "alice")
        }
        #expect(error?.description.contains("An import names the key by its fingerprint") == true)
        await fixture.close()
    }

    @Test("An order with an invalid fingerprint is an error")
    func invalidFingerprint() throws {
        let text =
            #"{"action":"import","issuerId":"i","keyId":"k","uri":"fake:x","fingerprint":"sha256:12","reason":"x"}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect(throws: JSONReadError.self) { try root.decode(ProvisioningOrder.self) }
    }

    // MARK: Provisioning jobs

    @Test("The approver of a job cannot carry it out")
    func approverDoesNotWork() async throws {
        let fixture = try await fixture()
        let order = importOrder(fixture, P256.Signing.PrivateKey())
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: "alice").proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "bob")
        }
        #expect(error?.description.contains("may not carry it out") == true)
        await fixture.close()
    }

    @Test("Only the proposer begins approved work")
    func proposerWorks() async throws {
        let fixture = try await fixture()
        let order = importOrder(fixture, P256.Signing.PrivateKey())
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: "alice").proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "carol")
        }
        #expect(error?.description.contains("alice proposed the work, and has to do it.") == true)
        #expect(try await fixture.lifecycle.begin(order, by: "alice").begun != nil)
        await fixture.close()
    }

    @Test("Only the administrator who began a job can end it, and the register has the name")
    func onlyTheWorkerEnds() async throws {
        let fixture = try await LifecycleTestGateway()
        let key = P256.Signing.PrivateKey()
        let job = try #require(try await fixture.lifecycle.begin(importOrder(fixture, key), by: "alice").begun)
        fixture.gateway.plain.place.add("new", key)
        for isSuccess in [true, false] {
            let end = ProvisioningResult(isSuccess: isSuccess, fingerprint: nil, evidence: [:])
            let error = await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.finish(job.id, end, by: "bob")
            }
            #expect(error?.description.contains("alice does this work, and has to end it.") == true)
        }
        let record = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").ended)
        #expect(record.history.last?.evidence["endedBy"] == "alice")
        #expect(record.history.last?.evidence["seenBy"] == "the gateway")
        await fixture.close()
    }

    @Test("Another administrator takes over a job after a second one approves it")
    func takeover() async throws {
        let fixture = try await LifecycleTestGateway()
        let key = P256.Signing.PrivateKey()
        let order = importOrder(fixture, key)
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: "bob").proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "carol")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "carol") }
        let taken = try #require(try await fixture.lifecycle.begin(order, by: "bob").begun)
        #expect(taken.id == job.id && taken.worker == "bob")
        fixture.gateway.plain.place.add("new", key)
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        let record = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "bob").ended)
        #expect(record.history.last?.evidence["endedBy"] == "bob")
        await fixture.close()
    }

    @Test("A job does not end while the gateway sees no key or another key")
    func theGatewayLooks() async throws {
        let fixture = try await fixture()
        let key = P256.Signing.PrivateKey()
        let job = try await begun(fixture, importOrder(fixture, key))
        let absent = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        #expect(absent?.description.contains("The gateway sees no key at") == true)
        fixture.gateway.plain.place.add("new")
        let other = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        #expect(other?.description.contains("is a different one") == true)
        #expect(fixture.state("NEW") == nil)
        fixture.gateway.plain.place.add("new", key)
        _ = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").ended)
        await fixture.close()
    }

    @Test("A destruction does not end while the key exists")
    func destructionIsSeen() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let order = ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: fixture.uri("late"), fingerprint: nil, reason: "x")
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(job.id, Self.success, by: "alice")
        }
        #expect(error?.description.contains("The gateway still sees a key") == true)
        fixture.gateway.plain.place.remove("late")
        let record = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").ended)
        #expect(record.state == .destroyed)
        await fixture.close()
    }

    @Test(
        "A destruction is refused if the gateway sees no key at its URI",
        arguments: ["nothing", "fake:nowhere;key=late"])
    func destructionOfNothing(_ place: String) async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let order = ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: place.contains(":") ? place : fixture.uri(place),
            fingerprint: nil, reason: "x")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "alice") }
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        await fixture.close()
    }

    @Test("A job at an unconfigured URI waits until the gateway can see the key")
    func waiting() async throws {
        let fixture = try await LifecycleTestGateway()
        let (key, place) = (
            P256.Signing.PrivateKey(), FakeBackendLocation("elsewhere \(fixture.gateway.plain.place.name)")
        )
        let uri = place.add("new", key)
        var order = importOrder(fixture, key)
        order.uri = uri
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        let waiting = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").waiting)
        #expect(fixture.state("NEW") == nil && fixture.lifecycle.overview().jobs == [waiting])
        try fixture.declare("NEW", at: uri)
        let running = Task { try await fixture.lifecycle.run() }
        await fixture.gateway.until { fixture.lifecycle.overview().jobs.isEmpty }
        running.cancel()
        try await running.value
        let record = try #require(fixture.gateway.keyStates.records["NEW"])
        #expect(record.provenance == .imported && record.state == .staged)
        #expect(record.history.last?.evidence["reported.method"] == "unwrap")
        await fixture.close()
    }
}
