import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import Testing

@testable import SQLiteAuditStore

@Suite("Failures of the audit store")
struct FailureTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("append fails while the database file is missing, and succeeds after its return")
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

    @Test("A commit is not durable if the database file is moved away during it")
    func movedMeanwhile() throws {
        let store = try log.open()
        try store.append("a")
        expect(.missing) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [66], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
                _ = rename(log.path, log.path + ".away")
            }
        }
        try log.move("audit.db.away", "audit.db")
        // The next transaction sees that the commit is in the file.
        #expect(try store.write { (transaction) throws(AuditStoreError) in try transaction.head()?.size } == 2)
    }

    @Test("A commit is not durable if the write-ahead log is removed during it")
    func logRemovedMeanwhile() throws {
        let store = try log.open()
        try store.append("a")
        expect(.replaced) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [66], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
                unlink(log.path + "-wal")
            }
        }
        #expect(try store.append("c") == 3)
        #expect(try log.read().bodies() == ["a", "B", "c"])
    }

    @Test("The entries of a removed write-ahead log are not lost", arguments: ["-wal", "-shm"])
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

    @Test("A reader that opens exchanged files does not build the writer's index from another write-ahead log")
    func foreignIndex() throws {
        try log.copy("audit.db", "older.db")
        let store = try log.open()
        try store.append("a")
        let own = ["audit.db", "audit.db-wal"]
        for name in own { try log.move(name, name + ".away") }
        try log.copy("older.db", "audit.db")
        #expect(FileManager.default.createFile(atPath: log.path + "-wal", contents: nil))
        expect(.replaced) { () throws(AuditStoreError) in
            _ = try SQLiteAuditStore.read(at: AuditLocation(log.path))
        }
        for name in own { try log.move(name + ".away", name) }
        store.close()
        #expect(try log.read().bodies() == ["a"])
    }

    @Test("A database in rollback mode, as VACUUM INTO makes it, has all files after it is opened")
    func rollbackMode() throws {
        let other = log.directory + "/other.db"
        try log.tamper("VACUUM INTO '\(other)'")
        let store = try SQLiteAuditStore.open(at: AuditLocation(other), as: .gateway, timeout: .milliseconds(50))
        #expect(
            try store.withWriter { (writer) throws(AuditStoreError) in try writer.files.change() }
                == LogFiles.Change.none)
        #expect(try SQLiteAuditStore.read(at: AuditLocation(other)).head() == nil)
        try store.append("a")
        #expect(try SQLiteAuditStore.read(at: AuditLocation(other)).bodies() == ["a"])
    }

    @Test("A log whose files are exchanged while it is opened is refused", arguments: ["", "-wal", "-shm"])
    func exchangedMeanwhile(_ name: String) throws {
        let store = try log.open()
        try store.append("a")
        expect(.replaced) { () throws(AuditStoreError) in
            _ = try OpenLogs().open(log.path) { (_) throws(AuditStoreError) in
                let tables = try LogTables(opening: log.path, .readOnly)
                try tables.checkKind()
                try? log.copy("audit.db" + name, "copy")
                #expect(rename(log.directory + "/copy", log.path + name) == 0)
                return tables
            }
        }
    }

    @Test("append fails after the removal of a write-ahead log until no reader uses it")
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
        try log.copy("audit.db", "crash.db")
        try log.copy("audit.db-wal", "crash.db-wal")
        #expect(try SQLiteAuditStore.read(at: AuditLocation(log.directory + "/crash.db")).bodies() == ["a", "b", "c"])
    }

    @Test(
        "A truncated write-ahead log is neither written nor checkpointed", arguments: [0, 5000])
    func cutOff(size: Int) throws {
        let store = try log.open()
        try store.append("a")
        try store.append("b")
        let database = try Data(contentsOf: URL(filePath: log.path))
        truncate(log.path + "-wal", off_t(size))
        for _ in 0..<2 { expect(.damaged) { () throws(AuditStoreError) in try store.append("no") } }
        store.close()
        #expect(try Data(contentsOf: URL(filePath: log.path)) == database)
    }

    @Test("A commit is not durable if the write-ahead log is truncated during it")
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

    @Test("The store continues after another connection resets the write-ahead log")
    func emptied() throws {
        let store = try log.open()
        let other = try log.open()
        let connection = try Connection(path: log.path, access: .readWrite)
        var expected: [String] = []
        for round in 0..<5 {
            for (writer, name) in [(store, "a"), (other, "b"), (store, "c")] {
                if round.isMultiple(of: 2) { #expect(try connection.truncateLog()) }
                try writer.append("\(name)\(round)")
                expected.append("\(name)\(round)")
            }
            #expect(try connection.truncateLog())
        }
        store.close()
        other.close()
        #expect(try log.read().bodies() == expected)
    }

    @Test("The store refuses a copy beside the write-ahead log of the original")
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

    @Test("The store accepts a complete copy without a write-ahead log")
    func copyPutBack() throws {
        let store = try log.open()
        try store.append("a")
        try store.withWriter { writer in _ = try? writer.connection.truncateLog() }
        try log.copy("audit.db", "copy.db")
        try log.move("copy.db", "audit.db")
        #expect(try store.append("b") == 2)
        try store.append("c")
        store.close()
        #expect(try log.read().bodies() == ["a", "b", "c"])
    }

    @Test("The store accepts an older copy together with its own write-ahead log")
    func olderPutBack() throws {
        let store = try log.open()
        try store.append("a")
        try log.copy("audit.db", "copy.db")
        try log.copy("audit.db-wal", "copy.db-wal")
        try store.append("b")
        for name in ["-wal", "-shm"] { try log.remove("audit.db" + name) }
        try log.move("copy.db", "audit.db")
        try log.move("copy.db-wal", "audit.db-wal")
        // The log appender, not the store, detects the missing entry from the head.
        #expect(try store.write { (transaction) throws(AuditStoreError) in try transaction.head()?.size } == 1)
    }

    @Test("The store refuses an older copy beside a foreign write-ahead log")
    func mixed() throws {
        let store = try log.open()
        let bodies = [[UInt8]](repeating: [UInt8](repeating: 65, count: 500), count: 2000)
        try store.append(bodies)
        _ = try store.withWriter { writer in try? writer.connection.passiveCheckpoint() }
        try log.copy("audit.db", "copy.db")
        for _ in 0..<3 {
            try store.append(bodies)
            _ = try store.withWriter { writer in try? writer.connection.passiveCheckpoint() }
        }
        try store.append("last")
        try log.move("copy.db", "audit.db")
        for _ in 0..<2 { expect(.replaced) { () throws(AuditStoreError) in try store.append("no") } }
    }

    @Test("The store refuses another or a missing log until the right one returns")
    func otherLog() throws {
        let store = try log.open()
        try store.append("a")
        try SQLiteAuditStore.create(
            at: AuditLocation(log.directory + "/other.db"), identity: AuditIdentity(origin: "other"))
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

    @Test("The store does not write to a read-only file, even as root")
    func readOnly() throws {
        let store = try log.open()
        try store.append("a")
        chmod(log.path, 0o400)
        expect(.readOnly) { () throws(AuditStoreError) in try store.append("b") }
        expect(.readOnly) { () throws(AuditStoreError) in
            try SQLiteAuditStore.open(at: AuditLocation(log.path), as: .gateway, timeout: .zero)
        }
        chmod(log.path, 0o600)
        try store.append("b")
        #expect(try log.read().bodies() == ["a", "b"])
    }

    @Test("The store waits for another writer up to its timeout")
    func busy() throws {
        let store = try log.open(timeout: .milliseconds(120))
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

    @Test("A full disk leaves no partial transaction, and writes succeed when space is free")
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

    @Test(
        "A row that a new trigger drops silently fails the write",
        arguments: ["entry", "register", "head"])
    func silentTrigger(_ table: String) throws {
        let store = try log.open()
        try log.tamper("CREATE TRIGGER silent BEFORE INSERT ON \(table) BEGIN SELECT RAISE(IGNORE); END")
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 0, body: [97], mark: 0))
                try transaction.register(AuditRegister(name: "state", value: [1], entry: 0))
                try transaction.setHead(SignedTreeHead(size: 1, note: "one"))
            }
        }
        try log.tamper("DROP TRIGGER silent")
        try store.append("b")
        #expect(try log.read().storedEnd() == 1)
    }

    @Test("open refuses a log with a foreign trigger or table")
    func foreignSchema() throws {
        try log.tamper(
            "CREATE TRIGGER forge AFTER INSERT ON entry BEGIN INSERT INTO segment VALUES (NEW.idx, x''); END")
        expect(.damaged) { () throws(AuditStoreError) in
            try SQLiteAuditStore.open(at: AuditLocation(log.path), as: .gateway, timeout: .zero)
        }
    }

    @Test(
        "Constraints prevent changes and removal of log rows",
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
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.keep(SignedTreeHead(size: 1, note: ""))
        }
        let error = #expect(throws: SQLiteError.self) { try log.tamper(statement) }
        #expect(error?.code.primary == .constraint)
    }
}
