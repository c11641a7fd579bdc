import AuditKit
import Crypto
import GatewayTesting
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@testable import AuditLog
@testable import KeyLifecycle
@testable import Signing

@Suite("The register of keys")
struct KeyRegisterTests {
    private func reopen(_ fixture: LifecycleTestGateway) async throws -> [String: KeyLifecycleRecord] {
        let store = fixture.gateway.store
        let keyStates = KeyStateCache()
        let log = AuditLog(signer: fixture.gateway.signer, loading: keyStates.load) {
            () throws(AuditStoreError) in store
        }
        try log.open()
        let records = keyStates.records
        await log.close()
        return records
    }

    private func order(_ fixture: LifecycleTestGateway, _ number: Int, uri: String? = nil) -> ProvisioningOrder {
        ProvisioningOrder(
            .import, issuerID: "issuer", keyID: "NEW\(number)", uri: uri ?? fixture.uri("new\(number)"),
            fingerprint: PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey), reason: "x")
    }

    @Test("A rewritten deadline of an earlier process ignores the clock steps of this process")
    func earlierDeadline() {
        let time = Timestamp(milliseconds: 1_800_000_000_000)
        var record = KeyLifecycleRecord(
            issuerID: "issuer", keyID: "OLD", state: .retiring, since: time, provenance: .unknown, history: [])
        record.retireAt = time
        let board = KeyStateCache()
        board.set([record])
        board.noteDeadlines([record], at: 5000)
        #expect(board.deadline(of: record)?.stepped == nil)
        record.retireAt = Timestamp(milliseconds: time.milliseconds + 1)
        board.noteDeadlines([record], at: 5000)
        #expect(board.deadline(of: record)?.stepped == 5000)
    }

    @Test("One administrator can have eight proposals, all together 64, and the log reopens with them")
    func proposals() async throws {
        let fixture = try await LifecycleTestGateway { $0.accounts[0].hasDualControl = true }
        var refused: [Int] = []
        for number in 0..<80 {
            let actor = Administrator(name: "admin \(number / 9)")
            do throws(KeyLifecycleRefusal) {
                _ = try await fixture.lifecycle.begin(order(fixture, number), by: actor)
            } catch {
                refused.append(number)
            }
        }
        // The ninth of each administrator, and all after the sixty-fourth.
        #expect(refused == (0..<8).map { 9 * $0 + 8 } + Array(72..<80))
        #expect(fixture.lifecycle.overview().proposals.count == 64)
        let names = fixture.gateway.store.content.registers.map(\.name).filter { $0.hasPrefix("proposal") }
        #expect(Set(names) == Set((0..<64).map { "proposal/\($0)" }))
        // After a decision, another proposal is accepted.
        let first = try #require(fixture.lifecycle.overview().proposals.first)
        try await fixture.lifecycle.reject(first.id, by: "bob")
        _ = try await fixture.lifecycle.begin(order(fixture, 99), by: "bob")
        #expect(fixture.gateway.store.content.registers.filter { $0.name.hasPrefix("proposal") }.count == 64)
        await fixture.close()
        _ = try await reopen(fixture)
    }

    /// The number of proposals in the list of earlier versions.
    private func earlierProposals(in audit: AuditLog) -> Int {
        String(decoding: audit.registers["proposals"]?.value ?? [], as: UTF8.self).split(separator: "\"id\":").count - 1
    }

    @Test("The proposal list of earlier versions is read and only shrinks")
    func earlierProposals() async throws {
        let fixture = try await LifecycleTestGateway(staging: true) { $0.accounts[0].hasDualControl = true }
        let audit = fixture.gateway.audit
        let proposals = [("aaaaaaaa", "3600"), ("bbbbbbbb", "60")].map { id, overlap in
            #"{"id":"\#(id)","action":"activate","issuerId":"issuer","keyId":"OTHER","details":{"retiring":"ACTIVE","#
                + #""overlap":"\#(overlap)"},"reason":"x","proposer":"ann","proposed":"2026-11-21T12:00:00.000Z","#
                + #""expires":"2099-11-21T12:00:00.000Z"}"#
        }
        let told = KeyLifecycleEntry(.proposed, action: "activate", issuerID: "issuer", keyID: "OTHER", actor: "ann")
        let list = Array("[\(proposals.joined(separator: ","))]".utf8)
        try await audit.register(
            [(told, "proposals", list)], at: audit.time(), basis: audit.registers.mapValues(\.value))
        try fixture.gateway.keyStates.load(audit.registers, at: audit.time())
        #expect(fixture.lifecycle.overview().proposals.map(\.id) == ["aaaaaaaa", "bbbbbbbb"])
        try await fixture.lifecycle.reject("bbbbbbbb", by: "bob")
        #expect(earlierProposals(in: audit) == 1)
        let rest = try #require(fixture.lifecycle.overview().proposals.first)
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(rest.id, digest: rest.digest, by: "ann")
        }
        _ = try await fixture.lifecycle.approve(rest.id, digest: rest.digest, by: "bob")
        #expect(earlierProposals(in: audit) == 0)
        #expect(fixture.state("OTHER") == .active)
        await fixture.close()
        _ = try await reopen(fixture)
    }

    @Test("One administrator can have eight open jobs")
    func jobs() async throws {
        let fixture = try await LifecycleTestGateway()
        for number in 0..<8 { _ = try await fixture.lifecycle.begin(order(fixture, number), by: "alice") }
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(order(fixture, 8), by: "alice")
        }
        #expect(error?.description.contains("8 jobs of alice") == true)
        await fixture.close()
    }

    @Test("Overlong members and invalid URIs are refused")
    func members() async throws {
        let fixture = try await LifecycleTestGateway()
        var orders = [
            order(fixture, 0, uri: "fake:" + String(repeating: "x", count: 1024)), order(fixture, 0, uri: "no URI"),
            order(fixture, 0, uri: "fake:a\nb"),
        ]
        orders.append(order(fixture, 0))
        orders[3].keyID = String(repeating: "K", count: 256)
        for order in orders {
            await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "alice") }
        }
        let job = try #require(try await fixture.lifecycle.begin(order(fixture, 1), by: "alice").begun)
        let evidence: [[String: String]] = [
            ["x": String(repeating: "x", count: 513)], [String(repeating: "n", count: 65): "x"],
            Dictionary(uniqueKeysWithValues: (0..<65).map { ("n\($0)", "x") }),
            Dictionary(uniqueKeysWithValues: (0..<20).map { ("n\($0)", String(repeating: "x", count: 500)) }),
            ["x": "a\u{0}b"],
        ]
        for evidence in evidence {
            let end = ProvisioningResult(isSuccess: false, fingerprint: nil, evidence: evidence)
            await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.finish(job.id, end, by: "alice")
            }
            let short = end.shortened()
            #expect(short.evidence.values.allSatisfy { $0.utf8.count <= 512 })
        }
        await fixture.close()
    }

    @Test("The register omits the parts of a URI that lead to a secret")
    func noSecrets() async throws {
        let fixture = try await LifecycleTestGateway()
        let uri = fixture.uri("new1") + "?pin-value=1234"
        let job = try #require(try await fixture.lifecycle.begin(order(fixture, 1, uri: uri), by: "alice").begun)
        #expect(!job.uri.contains("1234"))
        await fixture.close()
    }

    @Test("A long history keeps the first and the latest changes and counts the omitted ones")
    func history() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        for _ in 0..<130 {
            _ = try await fixture.change(.suspend, "OTHER")
            _ = try await fixture.change(.resume, "OTHER")
        }
        let record = try #require(fixture.gateway.keyStates.records["OTHER"])
        #expect(record.history.count == 256 && record.omitted == 5)
        #expect(record.history.first?.action == .adopt && record.history.last?.action == .resume)
        await fixture.close()
        #expect(try await reopen(fixture)["OTHER"] == record)
    }

    @Test("A history of long reasons stays below the limit of its register")
    func longHistory() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        var record = try #require(fixture.gateway.keyStates.records["OTHER"])
        let change = KeyLifecycleChange(
            time: record.since, action: .suspend, from: .staged, to: .suspended, actor: "alice",
            reason: String(repeating: "\"", count: 500))
        record.history += [KeyLifecycleChange](repeating: change, count: 200)
        let limited = record.limited()
        #expect(JSONText.encode(limited).count <= 192 << 10)
        #expect(limited.omitted > 0 && limited.history.first == record.history.first)
        #expect(limited.omitted + limited.history.count == record.history.count)
        await fixture.close()
    }

    @Test("A compromised key stays compromised when it is retired")
    func compromise() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        _ = try await fixture.change(.compromise, "OTHER")
        let time = try #require(fixture.gateway.keyStates.records["OTHER"]?.compromisedAt)
        let handle = try #require(fixture.snapshots.current.ring.handles.first { $0.settings.keyID == "OTHER" })
        _ = try await fixture.change(.retire, "OTHER")
        #expect(fixture.gateway.keyStates.records["OTHER"]?.compromisedAt == time)
        #expect(!handle.isTrustworthy)
        await fixture.close()
        #expect(try await reopen(fixture)["OTHER"]?.compromisedAt == time)
    }

    @Test("A restored key is published again")
    func restoration() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        let handle = try #require(fixture.snapshots.current.ring.handles.first { $0.settings.keyID == "OTHER" })
        _ = try await fixture.change(.compromise, "OTHER")
        #expect(!handle.isTrustworthy)
        _ = try await fixture.change(.restore, "OTHER")
        let record = try #require(fixture.gateway.keyStates.records["OTHER"])
        #expect(handle.isTrustworthy && !record.isCompromised && record.state == .suspended)
        // The record keeps the times of the compromise and of the restoration.
        #expect(record.compromisedAt != nil && record.restoredAt == record.since)
        _ = try await fixture.change(.compromise, "OTHER")
        let again = try #require(fixture.gateway.keyStates.records["OTHER"])
        #expect(again.isCompromised && again.compromisedAt == again.since && !handle.isTrustworthy)
        await fixture.close()
    }

    @Test("A compromised and destroyed key cannot be imported again under its ID")
    func destroyedAfterCompromise() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        _ = try await fixture.change(.compromise, "OTHER")
        let order = ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: fixture.uri("late"), fingerprint: nil, reason: "x")
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        fixture.gateway.plain.place.remove("late")
        let end = ProvisioningResult(isSuccess: true, fingerprint: nil, evidence: [:])
        _ = try await fixture.lifecycle.finish(job.id, end, by: "alice")
        let handle = try #require(fixture.snapshots.current.ring.handles.first { $0.settings.keyID == "OTHER" })
        #expect(fixture.state("OTHER") == .destroyed && !handle.isTrustworthy)
        var again = self.order(fixture, 0, uri: fixture.uri("late"))
        again.keyID = "OTHER"
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(again, by: "alice")
        }
        #expect(error?.description.contains("was compromised at") == true)
        await fixture.close()
    }

    @Test("A record of an earlier version takes its compromise from the history")
    func earlierRecord() throws {
        func record(_ actions: [(String, String)]) throws -> KeyLifecycleRecord {
            let history = actions.map { action, to in
                #"{"at":"2026-11-21T12:00:00.000Z","action":"\#(action)","to":"\#(to)","actor":"ann","reason":"x"}"#
            }
            let text =
                #"{"issuerId":"i","keyId":"k","state":"retired","since":"2026-11-21T12:00:00.000Z","provenance":"unknown","history":["#
                + history.joined(separator: ",") + "]}"
            var record = try JSONDocument(parsing: Array(text.utf8)).root.decode(KeyLifecycleRecord.self)
            record.takeCompromiseFromHistory()
            return record
        }
        #expect(
            try record([("adopt", "staged"), ("compromise", "compromised"), ("retire", "retired")]).compromisedAt != nil
        )
        #expect(try record([("compromise", "compromised"), ("restore", "suspended")]).isCompromised == false)
        #expect(try record([("adopt", "staged"), ("retire", "retired")]).compromisedAt == nil)
    }
}
