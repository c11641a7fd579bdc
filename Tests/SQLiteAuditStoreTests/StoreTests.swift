import AuditKit
import Foundation
import Testing

@testable import SQLiteAuditStore

@Suite("The SQLite audit store")
struct StoreTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("Written entries, heads and checkpoints are read back")
    func roundTrip() throws {
        let store = try log.open()
        #expect(store.identity == TestLog.identity)
        try store.append("a", "b")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.append(StoredEntry(index: 2, body: [], mark: .max))
            try transaction.setHead(SignedTreeHead(size: 3, note: "three"))
            try transaction.keep(SignedTreeHead(size: 3, note: "kept"))
            try transaction.keep(SignedTreeHead(size: 3, note: "kept again"))
        }
        let reader = try log.read()
        #expect(reader.identity == TestLog.identity)
        #expect(try reader.head() == SignedTreeHead(size: 3, note: "three"))
        #expect(try reader.checkpoints() == [SignedTreeHead(size: 3, note: "kept again")])
        #expect(try reader.bodies() == ["a", "b", ""])
        #expect(try reader.bodies(1..<2) == ["b"])
        var mark: UInt64?
        try reader.entries(in: 2..<3) { entry in
            mark = entry.mark
            return true
        }
        #expect(mark == .max)
        #expect(try reader.storedEnd() == 3)
    }

    @Test("A read stops when its closure returns false, and otherwise continues beyond one batch")
    func batches() throws {
        let store = try log.open()
        try store.append((0..<3000).map { Array("\($0)".utf8) })
        let reader = try log.read()
        #expect(try reader.bodies() == (0..<3000).map(String.init))
        var seen = 0
        try reader.entries(in: 0..<3000) { _ in
            seen += 1
            return seen < 5
        }
        #expect(seen == 5)
    }

    @Test("A location must be a path, with or without the scheme")
    func locations() throws {
        #expect(try SQLiteAuditStore.exists(at: log.path))
        #expect(try SQLiteAuditStore.exists(at: "sqlite:" + log.path))
        #expect(try !SQLiteAuditStore.exists(at: log.path + ".not"))
        for location in ["", "sqlite:", log.directory + "/"] {
            expect(.unfit) { () throws(AuditStoreError) in try SQLiteAuditStore.exists(at: location) }
        }
        #expect(try LogLocation("a.db").path.hasSuffix("/a.db"))
        #expect(try LogLocation("/x/audit.db").index == "/x/audit.index.db")
        #expect(try LogLocation("/x/audit").index == "/x/audit.index.db")
    }

    @Test("create refuses an existing file and a missing directory")
    func creating() throws {
        let before = try Data(contentsOf: URL(filePath: log.path))
        expect(.unfit) { () throws(AuditStoreError) in
            try SQLiteAuditStore.create(at: log.path, identity: AuditIdentity(origin: "other"))
        }
        #expect(try Data(contentsOf: URL(filePath: log.path)) == before)
        expect(.unfit) { () throws(AuditStoreError) in
            try SQLiteAuditStore.create(at: log.directory + "/no/audit.db", identity: TestLog.identity)
        }
        #expect(log.files == ["audit.db"])
    }

    @Test("open creates nothing and refuses files that are not a log")
    func opening() throws {
        expect(.missing) { () throws(AuditStoreError) in
            try SQLiteAuditStore.open(at: log.path + ".not", timeout: .zero)
        }
        try Data("no database at all, but long enough to have a header, one would think.".utf8)
            .write(to: URL(filePath: log.directory + "/text"))
        try Data().write(to: URL(filePath: log.directory + "/empty"))
        for name in ["text", "empty", ""] {
            expect(.unfit) { () throws(AuditStoreError) in
                try SQLiteAuditStore.open(at: log.directory + "/" + name, timeout: .zero)
            }
            expect(.unfit) { () throws(AuditStoreError) in try SQLiteAuditStore.read(at: log.directory + "/" + name) }
        }
        #expect(log.files == ["audit.db", "text", "empty"])
    }

    @Test("Only the owner can read and write the files of the store")
    func modes() throws {
        let store = try log.open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size))
        try store.index()
        for name in ["audit.db", "audit.db-wal", "audit.db-shm", "audit.index.db"] { #expect(log.mode(name) == 0o600) }
    }

    @Test("A failed transaction leaves nothing behind, and the store stays usable")
    func rollback() throws {
        let store = try log.open()
        try store.append("a")
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [2], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "no"))
                throw .failed("It was not to be.")
            }
        }
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("The store accepts only the next entry number")
    func order() throws {
        let store = try log.open()
        try store.append("a")
        for index in [0, 2, -1] {
            expect(.failed) { () throws(AuditStoreError) in
                try store.write { (transaction) throws(AuditStoreError) in
                    try transaction.append(StoredEntry(index: index, body: [], mark: 0))
                }
            }
        }
        #expect(try log.read().storedEnd() == 1)
    }

    @Test("A finished transaction refuses further calls")
    func escaped() throws {
        let store = try log.open()
        let escaped = try store.write { $0 }
        expect(.closed) { () throws(AuditStoreError) in try escaped.head() }
        expect(.closed) { () throws(AuditStoreError) in try escaped.setHead(SignedTreeHead(size: 9, note: "")) }
    }

    @Test("Two writers see each other's entries")
    func writers() throws {
        let (one, other) = (try log.open(), try log.open())
        try one.append("a")
        #expect(try other.append("b") == 2)
        #expect(try one.append("c") == 3)
        #expect(try log.read().bodies() == ["a", "b", "c"])
    }

    @Test("A closed store leaves one file and refuses further calls")
    func closing() throws {
        let store = try log.open()
        try store.append("a")
        store.close()
        store.close()
        expect(.closed) { () throws(AuditStoreError) in try store.append("b") }
        expect(.closed) { () throws(AuditStoreError) in try store.maintain() }
        #expect(log.files == ["audit.db"])
        let reader = try log.read()
        reader.close()
        expect(.closed) { () throws(AuditStoreError) in try reader.head() }
    }

    @Test("drop removes closed segments in order and nothing else")
    func dropping() throws {
        let store = try log.open()
        try store.append([[UInt8]](repeating: [1], count: 2 * AuditSegment.size + 3))
        try store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 1) }
        for segment in [0, 3] {
            expect(.failed) { () throws(AuditStoreError) in
                try store.write { (transaction) throws(AuditStoreError) in
                    try transaction.drop(segmentsBefore: segment)
                }
            }
        }
        let reader = try log.read()
        #expect(try reader.firstIndex() == AuditSegment.size)
        #expect(try reader.bodies().count == AuditSegment.size + 3)
        #expect(try reader.segmentRoots() == [TestRoot.of(0), TestRoot.of(1)])
        try store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 2) }
        #expect(try reader.bodies().count == 3)
        #expect(try reader.inspect() == [])
    }

    @Test("freeBytes is the free space of the file system")
    func space() throws {
        #expect(try (log.open().freeBytes ?? 0) > 0)
    }
}
