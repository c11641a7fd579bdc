import AuditKit
import AuditLog
import Foundation
import GatewayTesting
import Testing
import TransparencyLog

@Suite("The log appender")
struct LedgerTests {
    private let store = MemoryAuditStore()
    private let signer: NoteSigner

    init() throws {
        signer = try .generate(name: "example.com/log")
    }

    private func log(known: [SignedTreeHead] = []) -> AuditLog {
        AuditLog(signer: signer, known: known) { [store] () throws(AuditStoreError) in store }
    }

    private func filled(_ count: Int, _ event: AuditEvent = .stop) async throws -> SignedTreeHead {
        let log = log()
        try log.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await log.record(event) } }
            try await group.waitForAll()
        }
        await log.close()
        return try #require(store.content.head)
    }

    @Test(
        "Every commit leaves a signed tree head over all entries",
        arguments: [1, 7, 4095, 4096, 8200])
    func heads(_ count: Int) async throws {
        let head = try await filled(count)
        var tree = AppendOnlyTree()
        for entry in store.content.entries { tree.append(.leaf(entry.body)) }
        let checkpoint = try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: [signer.verifier])
        #expect(checkpoint.size == count && checkpoint.root == tree.root)
        #expect(store.content.roots.count == count / 4096)
        for (index, entry) in store.content.entries.enumerated() {
            #expect(entry.index == index)
            #expect(entry.mark == StoredEntry.mark(of: .leaf(entry.body), at: index))
        }
    }

    @Test("The writer thread is named privyseal-audit")
    func threadName() async throws {
        let log = log()
        try log.open()
        try await log.record(.stop)
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        #expect(names.contains("privyseal-audit\n"))
        await log.close()
    }

    @Test("A reopened log continues at its end")
    func goesOn() async throws {
        _ = try await filled(4000)
        let head = try await filled(200)
        #expect(head.size == 4200 && store.content.roots.count == 1)
    }

    @Test("The appender continues after entries of another process")
    func follows() async throws {
        let first = log()
        try first.open()
        try await first.record(.stop)
        _ = try await filled(3)
        try await first.record(.stop)
        #expect(store.content.entries.map(\.index) == [0, 1, 2, 3, 4])
        await first.close()
    }

    @Test("The appender refuses an older copy that is restored during writing")
    func rollback() async throws {
        _ = try await filled(5)
        let old = store.content
        let log = log()
        try log.open()
        try await log.record(.stop)
        store.content = old
        await #expect(throws: AuditError.self) { try await log.record(.stop) }
        #expect(log.state.reason?.contains("holds 5 entries, but had 6") == true)
        await log.close()
    }

    @Test("open refuses a log that is shorter than a known checkpoint or differs from it")
    func known() async throws {
        let head = try await filled(5)
        let content = store.content
        store.content.entries.removeLast(2)
        store.content.head = nil
        #expect(throws: AuditStoreError.self) { try log(known: [head]).open() }
        store.content = MemoryAuditStore.Content()
        // With the same events in the same millisecond, the other log would begin with the same entries.
        _ = try await filled(9, .idle)
        #expect(throws: AuditStoreError.self) { try log(known: [head]).open() }
        store.content = content
        let right = log(known: [head])
        try right.open()
        await right.close()
    }

    @Test("open refuses a log whose entries do not match its signed tree head", arguments: 0..<6)
    func damaged(_ kind: Int) async throws {
        let head = try await filled(5)
        switch kind {
        case 0:
            let entry = store.content.entries[2]
            store.content.entries[2] = StoredEntry(index: 2, body: entry.body + [0x20], mark: entry.mark)
        case 1: store.content.entries.remove(at: 2)
        case 4: store.content.entries.append(StoredEntry(index: 5, body: store.content.entries[4].body, mark: 0))
        case 5: store.content.head = nil
        case 2: store.content.head = SignedTreeHead(size: 5, note: head.note.replacing("\n5\n", with: "\n4\n"))
        default:
            let other = try NoteSigner.generate(name: "example.com/log")
            let text = try SignedNote(parsing: head.note).text
            store.content.head = SignedTreeHead(size: 5, note: try other.sign(text).description)
        }
        #expect(throws: AuditStoreError.self) { try log().open() }
    }
}
