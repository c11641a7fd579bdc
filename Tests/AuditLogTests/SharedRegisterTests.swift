import AuditKit
import GatewayTesting
import SigningKit
import Testing
import TransparencyLog

@testable import AuditLog

@Suite("Registers that several gateways change")
struct SharedRegisterTests {
    private let store = MemoryAuditStore()
    private let logs: [AuditLog]

    /// Two gateways that write the same log.
    init() throws {
        let signer = try NoteSigner.generate(name: "example.com/log")
        let store = store
        logs = (0..<2).map { _ in
            AuditLog(signer: signer, isShared: true) { () throws(AuditStoreError) in store }
        }
        for log in logs { try log.open() }
    }

    private func set(_ value: UInt8, in log: AuditLog, basis: [String: [UInt8]]) async throws(AuditError) {
        let entry = KeyLifecycleEntry(.changed, action: "activate", issuerID: "i", keyID: "k", actor: "ann")
        try await log.register([(entry, "key/k", [value])], at: .now(), basis: basis)
    }

    private var stored: [UInt8]? { store.content.registers.first?.value }

    @Test("A change that was computed from an older register writes nothing")
    func superseded() async throws {
        try await set(1, in: logs[0], basis: [:])
        await #expect(throws: AuditError.superseded) { try await set(2, in: logs[1], basis: [:]) }
        #expect(stored == [1] && store.content.entries.count == 1)
        // The refusal has read the new register, and the log is writable.
        #expect(logs[1].registers["key/k"]?.value == [1] && logs[1].state.isWritable)
        try await set(2, in: logs[1], basis: ["key/k": [1]])
        #expect(stored == [2])
    }

    @Test("Other calls of the same transaction are written nevertheless")
    func others() async throws {
        try await set(1, in: logs[0], basis: [:])
        store.hold()
        let (log, before) = (logs[1], store.transactions)
        let first = Task { try await log.record(.stop) }
        await store.begun(before + 1)
        // These two wait for the next transaction, which is one for both.
        let second = Task { try await log.record(.idle) }
        let third = Task { try await set(2, in: log, basis: [:]) }
        while log.queue.waitingCount < 2 { await Task.yield() }
        for _ in 0..<3 { store.release() }
        try await first.value
        try await second.value
        await #expect(throws: AuditError.superseded) { try await third.value }
        #expect(stored == [1] && store.entries("idle").count == 1)
    }

    @Test("A gateway follows the entries of another one")
    func follows() async throws {
        try await set(1, in: logs[0], basis: [:])
        #expect(logs[1].content.entryCount == 0)
        try await logs[1].follow()
        #expect(logs[1].content.entryCount == 1 && logs[1].content.registers["key/k"]?.value == [1])
    }

    @Test("A gateway signs nothing if it has not read the key states for too long, or for a moment during a change")
    func freshness() throws {
        let freshness = RegisterFreshness(limit: .seconds(10))
        #expect(freshness.error != nil)
        freshness.note(readAt: .now - .seconds(9), isChanging: false)
        #expect(freshness.error == nil)
        freshness.note(readAt: .now - .seconds(11), isChanging: false)
        #expect(freshness.error != nil)
        freshness.note(readAt: .now - .seconds(1), isChanging: true)
        #expect(freshness.error != nil)
        freshness.note(readAt: .now, isChanging: false)
        #expect(freshness.error == nil)
        freshness.revoke()
        freshness.note(readAt: .now, isChanging: false)
        #expect(freshness.error == .halted("This gateway has left the fleet."))
    }

    @Test("A halt that ends before it is noticed gets an entry if it refused requests")
    func shortHalt() {
        let halt = SigningHalt()
        #expect(halt.check(nil) == nil)
        halt.noteRefused(.halted("Too few witnesses."), count: 3)
        let event = halt.check(nil)
        let fields = event.flatMap { EntryFields(AuditEntry($0, at: .now()).bytes) }
        #expect(fields?.integer("refused") == 3 && fields?.text("reason") == "Too few witnesses.")
        #expect(halt.check(nil) == nil)
    }
}
