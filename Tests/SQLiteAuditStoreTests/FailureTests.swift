import AuditKit
import Foundation
import SQLite
import Testing

@testable import SQLiteAuditStore

@Suite("When the log cannot be written")
struct FailureTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("A file that was moved away is missing, and when it comes back all goes on")
    func movedAway() throws {
        let store = try log.open()
        try store.append("a")
        try log.move("audit.db", "away.db")
        for _ in 0..<2 { expect(.missing) { () throws(AuditStoreError) in try store.append("lost") } }
        expect(.missing) { () throws(AuditStoreError) in try store.maintain() }
        #expect(!log.files.contains("audit.db"))
        try log.move("away.db", "audit.db")
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("A commit that went into a file that is not at its path any more is not durable")
    func movedMeanwhile() throws {
        let store = try log.open()
        try store.append("a")
        expect(.missing) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [66], mark: 0))
                try transaction.setHead(AuditHead(size: 2, note: "two"))
                _ = rename(log.path, log.path + ".away")
            }
        }
        try log.move("audit.db.away", "audit.db")
        // Whoever writes next sees what became of it.
        #expect(try store.write { (transaction) throws(AuditStoreError) in try transaction.head()?.size } == 2)
    }

    @Test("So with a write-ahead log that was removed meanwhile")
    func logRemovedMeanwhile() throws {
        let store = try log.open()
        try store.append("a")
        expect(.replaced) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [66], mark: 0))
                try transaction.setHead(AuditHead(size: 2, note: "two"))
                unlink(log.path + "-wal")
            }
        }
        #expect(try store.append("c") == 3)
        #expect(try log.read().bodies() == ["a", "B", "c"])
    }

    @Test("What was in a write-ahead log that was removed is not lost", arguments: ["-wal", "-shm"])
    func companions(_ companion: String) throws {
        let store = try log.open()
        try store.append("a")
        try store.append("b")
        try log.remove("audit.db" + companion)
        #expect(try store.append("c") == 3)
        store.close()
        #expect(try log.read().bodies() == ["a", "b", "c"])
        #expect(try log.read().inspect() == [])
    }

    @Test("A write-ahead log that was removed while somebody reads from it is given up only when it is empty")
    func removedWhileRead() throws {
        let store = try log.open()
        try store.append("a")
        let reader = try Connection(path: log.path, access: .readOnly)
        try reader.execute("BEGIN; SELECT * FROM head")
        try store.append("b")
        try log.remove("audit.db-wal")
        for _ in 0..<2 { expect(.replaced) { () throws(AuditStoreError) in try store.append("no") } }
        try reader.execute("COMMIT")
        try store.append("c")
        // What a crash would leave.
        try log.copy("audit.db", "crash.db")
        try log.copy("audit.db-wal", "crash.db-wal")
        #expect(try SQLiteAuditStore.read(at: log.directory + "/crash.db").bodies() == ["a", "b", "c"])
    }

    @Test(
        "A write-ahead log that was cut off takes nothing more, and what is left is not copied", arguments: [0, 5000])
    func cutOff(size: Int) throws {
        let store = try log.open()
        try store.append("a")
        try store.append("b")
        let database = try Data(contentsOf: URL(filePath: log.path))
        truncate(log.path + "-wal", off_t(size))
        for _ in 0..<2 { expect(.damaged) { () throws(AuditStoreError) in try store.append("no") } }
        #expect(log.size("audit.db-wal") == size)
        store.close()
        #expect(try Data(contentsOf: URL(filePath: log.path)) == database)
    }

    @Test("A commit does not count when the write-ahead log was cut off meanwhile")
    func cutOffMeanwhile() throws {
        let store = try log.open()
        try store.append("a")
        try store.append("b")
        for _ in 0..<2 {
            expect(.damaged) { () throws(AuditStoreError) in
                try store.write { (transaction) throws(AuditStoreError) in
                    truncate(log.path + "-wal", 0)
                    try transaction.append(StoredEntry(index: 2, body: [65], mark: 0))
                }
            }
        }
        let database = try Data(contentsOf: URL(filePath: log.path))
        store.close()
        #expect(try Data(contentsOf: URL(filePath: log.path)) == database)
    }

    @Test("A write-ahead log that another connection empties, or begins anew, is gone on with")
    func emptied() throws {
        let store = try log.open()
        let other = try log.open()
        let connection = try Connection(path: log.path, access: .readWrite)
        var expected: [String] = []
        for round in 0..<5 {
            for (writer, name) in [(store, "a"), (other, "b"), (store, "c")] {
                if round.isMultiple(of: 2) { #expect(try connection.emptyLog()) }
                try writer.append("\(name)\(round)")
                expected.append("\(name)\(round)")
            }
            #expect(try connection.emptyLog())
        }
        store.close()
        other.close()
        #expect(try log.read().bodies() == expected)
    }

    @Test("A copy that was put beside the write-ahead log of the file before is refused, however whole the two look")
    func copyBesideTheLog() throws {
        let store = try log.open()
        try store.append("a")
        try log.copy("audit.db", "copy.db")
        try log.move("audit.db", "away.db")
        try log.move("copy.db", "audit.db")
        for _ in 0..<2 { expect(.replaced) { () throws(AuditStoreError) in try store.append("no") } }
        try log.move("away.db", "audit.db")
        #expect(try store.append("b") == 2)
        store.close()
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("A whole copy that was put in the file's place, without a write-ahead log, is gone on with")
    func copyPutBack() throws {
        let store = try log.open()
        try store.append("a")
        try store.withWriter { writer in _ = try? writer.connection.emptyLog() }
        try log.copy("audit.db", "copy.db")
        try log.move("copy.db", "audit.db")
        #expect(try store.append("b") == 2)
        try store.append("c")
        store.close()
        #expect(try log.read().bodies() == ["a", "b", "c"])
    }

    @Test("A copy that was put in the file's place together with its log is gone on with, though it is older")
    func olderPutBack() throws {
        let store = try log.open()
        try store.append("a")
        try log.copy("audit.db", "copy.db")
        try log.copy("audit.db-wal", "copy.db-wal")
        try store.append("b")
        for name in ["-wal", "-shm"] { try log.remove("audit.db" + name) }
        try log.move("copy.db", "audit.db")
        try log.move("copy.db-wal", "audit.db-wal")
        // That an entry is missing is for the engine to see, from the head.
        #expect(try store.write { (transaction) throws(AuditStoreError) in try transaction.head()?.size } == 1)
    }

    @Test("An older copy beside a write-ahead log that is not its own is refused")
    func mixed() throws {
        let store = try log.open()
        let bodies = [[UInt8]](repeating: [UInt8](repeating: 65, count: 500), count: 2000)
        try store.append(bodies)
        _ = try store.withWriter { writer in try? writer.connection.copyLog() }
        try log.copy("audit.db", "copy.db")
        for _ in 0..<3 {
            try store.append(bodies)
            _ = try store.withWriter { writer in try? writer.connection.copyLog() }
        }
        try store.append("last")
        try log.move("copy.db", "audit.db")
        for _ in 0..<2 { expect(.replaced) { () throws(AuditStoreError) in try store.append("no") } }
    }

    @Test("Another log, or no log at all, in the file's place is refused until the right one is back")
    func otherLog() throws {
        let store = try log.open()
        try store.append("a")
        try SQLiteAuditStore.create(at: log.directory + "/other.db", identity: AuditIdentity(origin: "other"))
        try log.move("audit.db", "away.db")
        try log.move("audit.db-wal", "away.db-wal")
        try log.remove("audit.db-shm")
        try log.move("other.db", "audit.db")
        for _ in 0..<2 { expect(.replaced) { () throws(AuditStoreError) in try store.append("no") } }
        for name in log.files where name.hasPrefix("audit.db") { try log.remove(name) }
        try Data("This is only a text.".utf8).write(to: URL(filePath: log.path))
        expect(.replaced) { () throws(AuditStoreError) in try store.append("no") }
        try log.move("away.db", "audit.db")
        try log.move("away.db-wal", "audit.db-wal")
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("A file that nobody may write to is not written, not even by root")
    func readOnly() throws {
        let store = try log.open()
        try store.append("a")
        chmod(log.path, 0o400)
        expect(.readOnly) { () throws(AuditStoreError) in try store.append("b") }
        expect(.readOnly) { () throws(AuditStoreError) in try SQLiteAuditStore.open(at: log.path, patience: .zero) }
        chmod(log.path, 0o600)
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("Another writer is waited for as long as was said")
    func busy() throws {
        let store = try log.open(patience: .milliseconds(120))
        try store.append("a")
        let other = try Connection(path: log.path, access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let clock = ContinuousClock()
        let waited = clock.measure {
            expect(.busy) { () throws(AuditStoreError) in try store.append("b") }
        }
        #expect(waited > .milliseconds(60) && waited < .seconds(5))
        try other.execute("ROLLBACK")
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("A full disk takes nothing half, and what comes when there is space again")
    func full() throws {
        let store = try log.open()
        try store.append("a")
        try store.withWriter { writer in
            _ = try? writer.connection.number("max_page_count = \(writer.connection.number("page_count") ?? 0)")
        }
        let large = [[UInt8]](repeating: [UInt8](repeating: 65, count: 9000), count: 3)
        expect(.full) { () throws(AuditStoreError) in try store.append(large) }
        try store.withWriter { writer in _ = try? writer.connection.number("max_page_count = 1000000") }
        #expect(try log.read().bodies() == ["a"])
        try store.append(large)
        #expect(try log.read().storedEnd() == 4)
    }

    @Test("A trigger or a table of somebody else's is not written beside")
    func foreignSchema() throws {
        try log.tamper(
            "CREATE TRIGGER forge AFTER INSERT ON entry BEGIN INSERT INTO segment VALUES (NEW.idx, x''); END")
        expect(.damaged) { () throws(AuditStoreError) in try SQLiteAuditStore.open(at: log.path, patience: .zero) }
    }

    @Test(
        "Rows of a log cannot be changed or removed by mistake",
        arguments: [
            "UPDATE entry SET body = x'00'", "UPDATE entry SET idx = idx + 9", "DELETE FROM entry",
            "UPDATE segment SET root = x'00'", "DELETE FROM segment", "DELETE FROM checkpoint",
            "UPDATE checkpoint SET size = 9", "UPDATE head SET size = 0", "DELETE FROM head",
            "UPDATE log SET origin = 'x'", "DELETE FROM log", "UPDATE log SET first_segment = 2",
            "INSERT INTO log VALUES (2, 'x', 1, 0)", "INSERT INTO entry VALUES (0, 0, x'00')",
            "INSERT INTO entry VALUES (99999, 0, 'text')",
        ])
    func triggers(_ statement: String) throws {
        let store = try log.open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size))
        try store.write { (transaction) throws(AuditStoreError) in try transaction.keep(AuditHead(size: 1, note: "")) }
        let error = #expect(throws: SQLiteError.self) { try log.tamper(statement) }
        #expect(error?.code.primary == .constraint)
    }
}
