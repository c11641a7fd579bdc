import AuditKit
import Crypto
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle
@testable import Signing

@Suite("Approvals")
struct ApprovalTests {
    private static let activation = KeyChangeOrder(
        .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)

    private func fixture(_ adjust: (inout GatewaySettings) -> Void = { _ in }) async throws -> LifecycleTestGateway {
        try await LifecycleTestGateway {
            $0.accounts[0].hasDualControl = true
            adjust(&$0)
        }
    }

    private func order(_ fixture: LifecycleTestGateway) -> ProvisioningOrder {
        ProvisioningOrder(
            .import, issuerID: "issuer", keyID: "K\u{e9}", uri: fixture.uri("n\u{e9}w"),
            fingerprint: PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey), reason: "The next key.")
    }

    private func approved(_ fixture: LifecycleTestGateway, _ order: ProvisioningOrder) async throws -> KeyProposal {
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: "alice").proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        return proposal
    }

    private func proposed(_ fixture: LifecycleTestGateway, by actor: Administrator = "alice") async throws
        -> KeyProposal
    {
        try #require(try await fixture.lifecycle.change(Self.activation, by: actor).proposed)
    }

    @Test(
        "An approval is for one account, one key ID and one URI, compared by bytes",
        arguments: [
            { $0.issuerID = "second issuer" }, { $0.keyID = "Ke\u{301}" },
            { $0.uri = $0.uri.replacing("n\u{e9}w", with: "ne\u{301}w") },
        ] as [@Sendable (inout ProvisioningOrder) -> Void])
    func otherWork(_ alter: @Sendable (inout ProvisioningOrder) -> Void) async throws {
        let fixture = try await fixture { settings in
            var second = settings.accounts[0]
            (second.issuerID, second.apps, second.keys) = ("second issuer", [], [])
            settings.accounts.append(second)
        }
        var order = order(fixture)
        _ = try await approved(fixture, order)
        alter(&order)
        _ = try #require(try await fixture.lifecycle.begin(order, by: "alice").proposed)
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        await fixture.close()
    }

    @Test("A provisioning job has the approved reason")
    func approvedReason() async throws {
        let fixture = try await fixture()
        var order = order(fixture)
        _ = try await approved(fixture, order)
        order.reason = "Another reason."
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        #expect(job.reason == "The next key.")
        await fixture.close()
    }

    @Test("A key ID that only looks like an existing one is refused")
    func likeness() async throws {
        let fixture = try await fixture { $0.accounts[0].keys[1].keyID = "KEY" }
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(KeyChangeOrder(.suspend, "\u{212A}EY", reason: "x"), by: "alice")
        }
        var order = order(fixture)
        order.keyID = "\u{212A}EY"
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "alice")
        }
        #expect(error?.description.contains("other Unicode characters") == true)
        await fixture.close()
    }

    @Test("A reason with a control character is refused")
    func reasons() async throws {
        let fixture = try await fixture()
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(KeyChangeOrder(.suspend, "OTHER", reason: "a\u{1}"), by: "alice")
        }
        #expect(error?.description.contains("The reason holds a control character") == true)
        await fixture.close()
    }

    // MARK: Administrators after a change of the configuration

    private func client(_ name: String, uids: [UInt32]) -> ClientSettings {
        ClientSettings(name: name, isAdministrator: true, uids: uids)
    }

    @Test(
        "A proposer with another token and another name is the same person",
        arguments: [
            [("ann", [7, 8]), ("annie", [8])], [("annie", [7]), ("annie", [8])],
            [("annie", [7, 8]), ("annie", [8, 9]), ("anna", [9])],
        ] as [[(String, [UInt32])]])
    func renamedProposer(_ steps: [(name: String, uids: [UInt32])]) async throws {
        let fixture = try await fixture { $0.clients = [client("ann", uids: [7]), client("bob", uids: [5])] }
        let ann = Administrator(client("ann", uids: [7]))
        let proposal = try await proposed(fixture, by: ann)
        for step in steps {
            fixture.reload { $0.clients = [client(step.name, uids: step.uids), client("bob", uids: [5])] }
        }
        let last = try #require(steps.last)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(
                proposal.id, digest: proposal.digest, by: Administrator(client(last.name, uids: last.uids)))
        }
        #expect(error?.description.contains("another administrator has to approve") == true)
        _ = try await fixture.lifecycle.approve(
            proposal.id, digest: proposal.digest, by: Administrator(client("bob", uids: [5])))
        await fixture.close()
    }

    @Test("A proposer with another name is the same person, also if the log could not record that at first")
    func renamedDuringOutage() async throws {
        let fixture = try await fixture { $0.clients = [client("ann", uids: [7]), client("bob", uids: [5])] }
        let proposal = try await proposed(fixture, by: Administrator(client("ann", uids: [7])))
        fixture.gateway.store.fault = .full("No space is left.")
        fixture.reload { $0.clients = [client("ann", uids: [7, 8]), client("bob", uids: [5])] }
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.suspend, "OTHER") }
        fixture.reload { $0.clients = [client("ann", uids: [7]), client("anna", uids: [8])] }
        try await fixture.recover()
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(
                proposal.id, digest: proposal.digest, by: Administrator(client("anna", uids: [8])))
        }
        #expect(error?.description.contains("another administrator has to approve") == true)
        await fixture.close()
    }

    @Test("A proposal counts only while its proposer is an administrator of the account", arguments: [true, false])
    func formerProposer(_ isOperator: Bool) async throws {
        let fixture = try await fixture()
        let proposal = try await proposed(fixture, by: isOperator ? .operator(uid: 900) : "alice")
        fixture.reload { settings in
            if isOperator { settings.accounts[0].countsOperator = false }
            settings.clients.removeAll { $0.name == "alice" }
        }
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        }
        #expect(error?.description.contains("no longer counts as an administrator of the account") == true)
        #expect(fixture.state("OTHER") == .retiring)
        await fixture.close()
    }

    @Test(
        "An approved job begins only while its proposer and its approver are administrators",
        arguments: ["alice", "bob"])
    func formerPersons(_ former: String) async throws {
        let fixture = try await fixture()
        let order = order(fixture)
        _ = try await approved(fixture, order)
        fixture.reload { settings in settings.clients.removeAll { $0.name == former } }
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "carol") }
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        await fixture.close()
    }

    @Test("The administrator who approved the takeover of a job cannot take it over later")
    func takeoverApprover() async throws {
        let fixture = try await LifecycleTestGateway()
        let order = order(fixture)
        _ = try await fixture.lifecycle.begin(order, by: "alice")
        let proposal = try #require(try await fixture.lifecycle.begin(order, by: "bob").proposed)
        _ = try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "carol")
        _ = try await fixture.lifecycle.begin(order, by: "bob")
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order, by: "carol")
        }
        #expect(error?.description.contains("may not carry it out") == true)
        await fixture.close()
    }

    @Test("An account that is no longer configured requires dual control if another one does")
    func formerAccount() async throws {
        let fixture = try await fixture()
        _ = try await fixture.change(.compromise, "OTHER")
        fixture.reload { $0.accounts[0].issuerID = "another issuer" }
        _ = try #require(try await fixture.change(.restore, "OTHER").proposed)
        await fixture.close()
    }
}
