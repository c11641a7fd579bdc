import AuditKit
import AuditLog
import Crypto
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle
@testable import Signing

/// A second run of a command may begin while the first one works, has been killed, or has ended.
@Suite("Interrupted and repeated provisioning jobs")
struct InterruptedJobTests {
    private let key = P256.Signing.PrivateKey()

    private func order(_ action: KeyLifecycleAction, _ fixture: LifecycleTestGateway) -> ProvisioningOrder {
        ProvisioningOrder(
            action, issuerID: "issuer", keyID: "NEW", uri: fixture.uri("new"),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "A test.")
    }

    private func begin(
        _ action: KeyLifecycleAction, _ fixture: LifecycleTestGateway
    ) async throws -> ProvisioningJob {
        try #require(try await fixture.lifecycle.begin(order(action, fixture), by: "alice").begun)
    }

    private func end(_ isSuccess: Bool, mayHaveChanged: Bool? = nil) -> ProvisioningResult {
        var end = ProvisioningResult(isSuccess: isSuccess, fingerprint: nil, evidence: [:])
        end.mayHaveChanged = mayHaveChanged
        return end
    }

    @Test("A failure ends a job of one run, but not one that another run has joined")
    func failureOfOneRun() async throws {
        let fixture = try await LifecycleTestGateway()
        let alone = try await begin(.import, fixture)
        #expect(alone.runs == 1)
        _ = try await fixture.lifecycle.finish(alone.id, end(false), by: "alice")
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        let first = try await begin(.import, fixture)
        let second = try await begin(.import, fixture)
        #expect(second.id == first.id && second.runs == 2)
        _ = try await fixture.lifecycle.finish(first.id, end(false), by: "alice")
        #expect(fixture.lifecycle.overview().jobs.map(\.id) == [first.id])
        fixture.gateway.plain.place.add("new", key)
        let record = try #require(try await fixture.lifecycle.finish(first.id, end(true), by: "alice").ended)
        #expect(record.state == .staged && record.hasEnded(first.id))
        await fixture.close()
    }

    @Test("A failure that may have changed the token leaves the job open")
    func changedToken() async throws {
        let fixture = try await LifecycleTestGateway()
        let job = try await begin(.import, fixture)
        _ = try await fixture.lifecycle.finish(job.id, end(false, mayHaveChanged: true), by: "alice")
        #expect(fixture.lifecycle.overview().jobs.map(\.id) == [job.id])
        await fixture.close()
    }

    @Test("A report of a job that has ended meanwhile gets its result, but not that of a later change")
    func lateReport() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.plain.place.add("new", key)
        let job = try await begin(.import, fixture)
        _ = try await fixture.lifecycle.finish(job.id, end(true), by: "alice")
        let record = try #require(try await fixture.lifecycle.finish(job.id, end(true), by: "alice").ended)
        #expect(record.hasEnded(job.id))
        let failed = try await begin(.import, fixture)
        _ = try await fixture.lifecycle.finish(failed.id, end(false), by: "alice")
        _ = try await fixture.change(.suspend, "NEW")
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.finish(failed.id, end(true), by: "alice")
        }
        await fixture.close()
    }

    @Test("An order that continues a job is refused when that job has ended")
    func continuation() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.plain.place.add("new", key)
        let job = try await begin(.import, fixture)
        var order = order(.import, fixture)
        order.continues = job.id
        #expect(try await begin(.import, fixture).id == job.id)
        _ = try await fixture.lifecycle.finish(job.id, end(true), by: "alice")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "alice") }
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        await fixture.close()
    }

    @Test("A destruction takes the place of an interrupted import, and must not name the place of another key")
    func destructionInPlaceOfAnImport() async throws {
        let fixture = try await LifecycleTestGateway()
        let job = try await begin(.import, fixture)
        var other = order(.destroy, fixture)
        other.uri = fixture.uri("active")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(other, by: "alice") }
        let destruction = try await begin(.destroy, fixture)
        #expect(destruction.id != job.id && destruction.runs == 2)
        #expect(fixture.lifecycle.overview().jobs.map(\.id) == [destruction.id])
        _ = try await fixture.lifecycle.finish(destruction.id, end(true), by: "alice")
        #expect(fixture.state("NEW") == .destroyed)
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        // A verification compares each state with the one before, and there was none.
        let entries = fixture.gateway.store.entries("life").filter { $0.text("register") == "key/NEW" }
        #expect(entries.map { $0.text("to") } == ["destroyed"] && entries.map { $0.text("from") } == [nil])
        await fixture.close()
    }

    @Test("A key cannot be brought in under a second ID before the first import has ended")
    func twoIDs() async throws {
        let fixture = try await LifecycleTestGateway()
        let job = try await begin(.import, fixture)
        var other = order(.import, fixture)
        (other.keyID, other.uri) = ("SECOND", fixture.uri("second"))
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(other, by: "alice")
        }
        #expect(error?.description.contains("as NEW began at") == true)
        _ = try await fixture.lifecycle.finish(job.id, end(false), by: "alice")
        _ = try #require(try await fixture.lifecycle.begin(other, by: "alice").begun)
        await fixture.close()
    }

    @Test("The proofs that a configuration adds to the proposer are in the register")
    func identities() async throws {
        func alice(_ uids: [UInt32]) -> ClientSettings {
            ClientSettings(name: "alice", isAdministrator: true, uids: uids)
        }
        let fixture = try await LifecycleTestGateway {
            $0.accounts[0].hasDualControl = true
            $0.clients.removeAll { $0.name == "alice" }
            $0.clients.append(alice([1001]))
        }
        let change = KeyChangeOrder(
            .activate, "OTHER", reason: "A test.", retiring: "ACTIVE", overlap: 3600, watch: 0)
        _ = try #require(try await fixture.lifecycle.change(change, by: Administrator(alice([1001]))).proposed)
        fixture.reload {
            $0.clients.removeAll { $0.name == "alice" }
            $0.clients.append(alice([1001, 1002]))
        }
        // The next change of the register records it.
        await fixture.lifecycle.processDeadlines()
        let recorded = KeyStateCache()
        try recorded.load(fixture.gateway.audit.registers, at: .now())
        let added = Set(Administrator(alice([1002])).proofs)
        #expect(added.isSubset(of: recorded.proposals.first?.laterProofs ?? []))
        await fixture.close()
    }
}
