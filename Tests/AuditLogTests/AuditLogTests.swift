import AuditKit
import AuditLog
import Crypto
import Foundation
import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import StrictJSON
import Synchronization
import Testing
import TransparencyLog

@Suite("The audit log")
struct AuditLogTests {
    @Test("The gateway answers only after the entry is durable")
    func waits() async throws {
        let gateway = try await AuditedGateway()
        await gateway.until { gateway.store.entries("key").count == 2 }
        gateway.store.hold()
        let before = gateway.store.transactions
        async let answer = gateway.sign("r-held")
        await gateway.store.begun(before + 1)
        #expect(gateway.store.entries("signature").isEmpty)
        gateway.store.release()
        _ = try await answer
        let entries = gateway.store.entries("signature")
        #expect(entries.map { $0.text("requestId") } == ["r-held"])
        await gateway.audit.close()
    }

    @Test("A signature entry names client, request and key, and only a keyed hash of the user")
    func content() async throws {
        let gateway = try await AuditedGateway()
        let body = #"{"productId":"monthly","offerIdentifier":"winback","transactionId":"70001234567890"}"#
        let answer = try await gateway.sign("r-7", body: Array(body.utf8))
        let entry = try #require(gateway.store.entries("signature").first)
        let handle = gateway.snapshot.ring.handles[0]
        #expect(entry.text("client") == "operator")
        #expect(entry.text("app") == TestGateway.app)
        #expect(entry.text("feature") == "promotional-offer")
        #expect(entry.texts("products") == ["monthly"])
        #expect(entry.texts("offers") == ["winback"])
        #expect(entry.text("key") == "ACTIVE")
        #expect(entry.text("fingerprint")?.utf8.count == 43)
        #expect(handle.fingerprint != nil)
        let jws = try #require(try JSONDocument(parsing: answer).root.anyObject()["jws"]?.string())
        let input = jws.split(separator: ".").prefix(2).joined(separator: ".")
        let digest = Data(SHA256.hash(data: Data(input.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(entry.text("digest") == digest)
        #expect(entry.text("nonce")?.utf8.count == 36)
        #expect(entry.text("user")?.utf8.count == 22)
        let text = gateway.store.content.entries.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(!text.contains("70001234567890"))
        #expect(!text.contains(jws.split(separator: ".")[2]))
        await gateway.audit.close()
    }

    @Test("Entries are canonical JSON with members in order and no white space")
    func canonical() async throws {
        let gateway = try await AuditedGateway()
        _ = try await gateway.sign()
        await gateway.until { gateway.store.entries("key").count == 2 }
        for entry in gateway.store.content.entries {
            let value = try JSONSerialization.jsonObject(with: Data(entry.body))
            let sorted = try JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
            #expect(Array(sorted) == entry.body)
        }
        await gateway.audit.close()
    }

    @Test("A failing log stops answers and signatures, and recovers by itself")
    func outage() async throws {
        let gateway = try await AuditedGateway()
        _ = try await gateway.sign("before")
        gateway.store.fault = .full("No space is left.")
        await #expect(throws: GatewayError.unrecorded(.unavailable("No space is left."))) {
            try await gateway.sign("during")
        }
        #expect(!gateway.audit.state.isWritable)
        let asked = gateway.plain.place.counts.signatures
        await #expect(throws: GatewayError.self) { try await gateway.sign("later") }
        #expect(gateway.plain.place.counts.signatures == asked)
        gateway.store.fault = nil
        await gateway.until { gateway.audit.state.isWritable }
        _ = try await gateway.sign("after")
        #expect(gateway.store.entries("signature").map { $0.text("requestId") } == ["before", "after"])
        let outage = try #require(gateway.store.entries("outage").first)
        #expect(outage.integer("refused") == 2)
        #expect(outage.text("reason")?.contains("No space is left.") == true)
        await gateway.audit.close()
    }

    @Test("An outage counts the refused requests, and unrecorded answers of a batch as lost")
    func outageOfABatch() async throws {
        let gateway = try await AuditedGateway()
        await gateway.until { gateway.store.entries("key").count == 2 }
        gateway.store.fault = .full("No space is left.")
        let bodies = [TestGateway.body, Array("{}".utf8), Array("{}".utf8)]
        let documents = try bodies.map { try JSONDocument(parsing: $0) }
        let results = await gateway.dispatcher.sign(documents.map(\.root), for: try gateway.route()) { _ in .test }
        #expect(results[0] == .failure(.unrecorded(.unavailable("No space is left."))))
        gateway.store.fault = nil
        await gateway.until { gateway.store.entries("outage").count == 1 }
        let outage = try #require(gateway.store.entries("outage").first)
        #expect(outage.integer("refused") == 1)
        #expect(outage.integer("lostEvents") == 2)
        await gateway.audit.close()
    }

    @Test("All noted events are written while the log is writable")
    func manyEvents() async throws {
        let gateway = try await AuditedGateway()
        gateway.store.hold()
        for _ in 0..<3000 { gateway.audit.note(.client(name: "shop", change: "added", actor: "SIGHUP")) }
        gateway.store.release()
        await gateway.until { gateway.store.entries("client").count == 3000 }
        #expect(gateway.store.entries("outage").isEmpty)
        await gateway.audit.close()
    }

    @Test("Each event of an outage is written or counted as lost")
    func lostEvents() async throws {
        let gateway = try await AuditedGateway(settings: AuditSettings(writeTimeout: .milliseconds(150)))
        await gateway.until { gateway.store.entries("key").count == 2 }
        let events = { (count: Int) in
            for _ in 0..<count { gateway.audit.note(.client(name: "shop", change: "added", actor: "SIGHUP")) }
        }
        gateway.store.hold()
        events(1001)
        await gateway.until { !gateway.audit.state.isWritable }
        // The transaction with the first events hangs and then fails; as many events follow meanwhile.
        events(1001)
        gateway.store.fault = .full("No space is left.")
        gateway.store.release()
        await gateway.until { gateway.audit.state.reason?.contains("No space") == true }
        events(100)
        gateway.store.fault = nil
        await gateway.until { gateway.audit.state.isWritable }
        await gateway.audit.close()
        let lost = gateway.store.entries("outage").compactMap { $0.integer("lostEvents") }.reduce(0, +)
        #expect(lost > 900)
        #expect(gateway.store.entries("client").count + Int(lost) == 2102)
    }

    @Test("A hanging write fails after its timeout, and the log recovers when the write returns")
    func hang() async throws {
        let gateway = try await AuditedGateway(settings: AuditSettings(writeTimeout: .milliseconds(150)))
        await gateway.until { gateway.store.entries("key").count == 2 }
        let running = Task { try await gateway.audit.run() }
        gateway.store.hold()
        await #expect(throws: GatewayError.unrecorded(.overdue(.milliseconds(150)))) {
            try await gateway.sign("hangs")
        }
        #expect(!gateway.audit.state.isWritable)
        gateway.store.release()
        await gateway.until { gateway.audit.state.isWritable }
        _ = try await gateway.sign("after")
        await gateway.until { gateway.store.entries("outage").count == 1 }
        running.cancel()
        _ = try await running.value
    }

    @Test("All waiting entries are written in one transaction")
    func group() async throws {
        let gateway = try await AuditedGateway()
        await gateway.until { gateway.store.entries("key").count == 2 }
        gateway.store.hold()
        let before = gateway.store.transactions
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 { group.addTask { _ = try await gateway.sign("r-\(number)") } }
            await gateway.store.begun(before + 1)
            await gateway.until { gateway.plain.place.counts.signatures >= 50 }
            gateway.store.release()
            try await group.waitForAll()
        }
        let ids = gateway.store.entries("signature").compactMap { $0.text("requestId") }
        #expect(Set(ids).count == 50 && ids.count == 50)
        #expect(gateway.store.transactions - before < 10)
        await gateway.audit.close()
    }

    @Test("A batch is recorded in one transaction, with refusals and positions")
    func batch() async throws {
        let gateway = try await AuditedGateway()
        await gateway.until { gateway.store.entries("key").count == 2 }
        let requests = try [
            #"{"productId":"p","offerIdentifier":"o"}"#, #"{"productId":"p"}"#,
            #"{"productId":"q","offerIdentifier":"o"}"#,
        ].map { try JSONDocument(parsing: Array($0.utf8)).root }
        let before = gateway.store.transactions
        let results = await gateway.dispatcher.sign(requests, for: try gateway.route("b")) { _ in .test }
        #expect(results.map { (try? $0.get()) != nil } == [true, false, true])
        #expect(gateway.store.transactions == before + 1)
        #expect(gateway.store.entries("signature").map { $0.integer("item") } == [0, 2])
        let refusal = try #require(gateway.store.entries("refusal").first)
        #expect(
            refusal.integer("item") == 1 && refusal.text("reason") == "test-reason" && refusal.integer("status") == 418)
        await gateway.audit.close()
    }

    @Test("Each state change of a key is recorded once")
    func keys() async throws {
        let gateway = try await AuditedGateway()
        gateway.plain.place.outage = .unavailable("gone")
        await gateway.snapshot.ring.prove()
        await gateway.snapshot.ring.prove()
        gateway.plain.place.outage = nil
        await gateway.snapshot.ring.prove()
        await gateway.until { gateway.store.entries("key").count >= 6 }
        let active = gateway.store.entries("key").filter { $0.text("key") == "ACTIVE" }
        #expect(active.map { $0.text("state") } == ["ready", "down", "ready"])
        await gateway.audit.close()
    }

    @Test("Refusals before signing are counted for each client and minute")
    func counts() async throws {
        let gateway = try await AuditedGateway()
        for _ in 0..<1000 { gateway.audit.count("forbidden", client: "shop") }
        for _ in 0..<7 { gateway.audit.count("unauthenticated", client: nil) }
        let running = Task { try await gateway.audit.run() }
        running.cancel()
        try await running.value
        let entries = gateway.store.entries("refusals")
        func total(_ client: String?, _ reason: String) -> Int {
            let numbers = entries.filter { $0.text("client") == client }.flatMap { $0.numbers("counts") }
            return numbers.filter { $0.name == reason }.map(\.number).reduce(0, +)
        }
        #expect(total("shop", "forbidden") == 1000)
        #expect(total(nil, "unauthenticated") == 7)
        #expect(entries.count <= 4)
        #expect(gateway.store.entries("stop").count == 1)
    }

    @Test("Refusal counts have the time of their minute, not of the write")
    func countsBeforeMidnight() async throws {
        let time = Mutex(Self.beforeMidnight)
        let gateway = try await AuditedGateway(now: { time.withLock { $0 } })
        gateway.audit.count("quota-exceeded", client: "shop")
        let running = Task { try await gateway.audit.run() }
        time.withLock { $0 = Timestamp(milliseconds: $0.milliseconds + 7_482) }
        await gateway.until { gateway.store.entries("refusals").count == 1 }
        gateway.audit.count("forbidden", client: "shop")
        running.cancel()
        try await running.value
        let entries = gateway.store.entries("refusals")
        #expect(entries.map { $0.text("time") } == ["2027-01-31T23:59:59.999Z", "2027-02-01T00:00:00.482Z"])
        #expect(entries.map { $0.text("minute") } == ["2027-01-31T23:59:00.000Z", "2027-02-01T00:00:00.000Z"])
    }

    private static let beforeMidnight = Timestamp(milliseconds: 1_801_439_993_000)
}
