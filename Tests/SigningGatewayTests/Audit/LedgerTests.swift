import AuditKit
import Foundation
import SigningGateway
import Testing
import TransparencyLog

@Suite("The tree of the log")
struct LedgerTests {
    private let store = MemoryAuditStore()
    private let signer: NoteSigner

    init() throws {
        signer = try .generate(name: "example.com/log")
    }

    private func log(known: [AuditHead] = []) -> AuditLog {
        AuditLog(signer: signer, known: known) { [store] () throws(AuditStoreError) in store }
    }

    private func filled(_ count: Int, _ event: AuditEvent = .stop) async throws -> AuditHead {
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
        "Every commit leaves a signed head over all entries, whatever their number",
        arguments: [1, 7, 4095, 4096, 8200])
    func heads(_ count: Int) async throws {
        let head = try await filled(count)
        var tree = GrowingTree()
        for entry in store.content.entries { tree.append(.leaf(entry.body)) }
        let checkpoint = try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: [signer.verifier])
        #expect(checkpoint.size == count && checkpoint.root == tree.root)
        #expect(store.content.roots.count == count / 4096)
        for (index, entry) in store.content.entries.enumerated() {
            #expect(entry.index == index)
            #expect(entry.mark == StoredEntry.mark(of: .leaf(entry.body), at: index))
        }
    }

    @Test("Who looks at the process sees which thread writes")
    func threadName() async throws {
        let log = log()
        try log.open()
        try await log.record(.stop)
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        #expect(names.contains("privyseal-audit\n"))
        await log.close()
    }

    @Test("A log goes on where it stopped")
    func goesOn() async throws {
        _ = try await filled(4000)
        let head = try await filled(200)
        #expect(head.size == 4200 && store.content.roots.count == 1)
    }

    @Test("What another process appended meanwhile is taken over")
    func follows() async throws {
        let first = log()
        try first.open()
        try await first.record(.stop)
        _ = try await filled(3)
        try await first.record(.stop)
        #expect(store.content.entries.map(\.index) == [0, 1, 2, 3, 4])
        await first.close()
    }

    @Test("An older copy that is put back while the log is written is refused")
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

    @Test("A log is not opened that is shorter than a checkpoint which it gave out, or another one")
    func known() async throws {
        let head = try await filled(5)
        let content = store.content
        store.content.entries.removeLast(2)
        store.content.head = nil
        #expect(throws: AuditStoreError.self) { try log(known: [head]).open() }
        store.content = MemoryAuditStore.Content()
        // Of the same events within the same millisecond the other log would begin as this one does.
        _ = try await filled(9, .idle)
        #expect(throws: AuditStoreError.self) { try log(known: [head]).open() }
        store.content = content
        let right = log(known: [head])
        try right.open()
        await right.close()
    }

    @Test("A log is not opened whose entries are not those that its head was signed for", arguments: 0..<6)
    func damaged(_ kind: Int) async throws {
        let head = try await filled(5)
        switch kind {
        case 0:
            let entry = store.content.entries[2]
            store.content.entries[2] = StoredEntry(index: 2, body: entry.body + [0x20], mark: entry.mark)
        case 1: store.content.entries.remove(at: 2)
        case 4: store.content.entries.append(StoredEntry(index: 5, body: store.content.entries[4].body, mark: 0))
        case 5: store.content.head = nil
        case 2: store.content.head = AuditHead(size: 5, note: head.note.replacing("\n5\n", with: "\n4\n"))
        default:
            let other = try NoteSigner.generate(name: "example.com/log")
            let text = try SignedNote(parsing: head.note).text
            store.content.head = AuditHead(size: 5, note: try other.sign(text).description)
        }
        #expect(throws: AuditStoreError.self) { try log().open() }
    }
}
