import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import Testing

@testable import SQLiteAuditStore

@Suite("Reading a log")
struct ReaderTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("Reading a copy of the database leaves nothing beside it")
    func plainCopy() throws {
        let store = try log.open()
        try store.append("a")
        store.close()
        let reader = try log.read()
        #expect(try reader.bodies() == ["a"])
        #expect(try reader.inspect() == [])
        #expect(log.files == ["audit.db"])
    }

    @Test("Reading a copy includes its write-ahead log")
    func copyWithLog() throws {
        let store = try log.open()
        try store.append("a")
        try log.copy("audit.db", "copy.db")
        try log.copy("audit.db-wal", "copy.db-wal")
        try store.append("b")
        let reader = try SQLiteAuditStore.read(at: AuditLocation(log.directory + "/copy.db"))
        #expect(try reader.bodies() == ["a"])
    }

    @Test("A reader that opens before the writer sees its entries")
    func writerComes() throws {
        let reader = try log.read()
        #expect(try reader.head() == nil)
        let store = try log.open()
        try store.append("a")
        #expect(try reader.bodies() == ["a"])
        store.close()
        #expect(try reader.bodies() == ["a"])
    }

    @Test("A long read does not keep the write-ahead log from restarting")
    func noLongSnapshot() throws {
        let store = try log.open()
        try store.append((0..<10).map { [UInt8($0)] })
        let reader = try log.read()
        var pages = Int.max
        try reader.entries(in: 0..<10) { (_) throws(AuditStoreError) in
            try store.withWriter { writer in _ = try? writer.connection.passiveCheckpoint() }
            // No reader uses the write-ahead log, so the next transaction starts at its beginning.
            try store.append("x")
            try store.withWriter { writer in pages = writer.connection.logPages }
            return false
        }
        #expect(pages <= 4)
    }

    @Test("A reader detects a replaced file and refuses another log")
    func replaced() throws {
        let reader = try log.read()
        try log.move("audit.db", "away.db")
        expect(.missing) { () throws(AuditStoreError) in try reader.head() }
        try SQLiteAuditStore.create(at: AuditLocation(log.path), identity: AuditIdentity(origin: "other"))
        expect(.replaced) { () throws(AuditStoreError) in try reader.head() }
        try log.move("away.db", "audit.db")
        #expect(try reader.head() == nil)
    }

    @Test("The error for a damaged page names an entry near it")
    func damagedPage() throws {
        let store = try log.open()
        try store.append((0..<2000).map { _ in [UInt8](repeating: 65, count: 500) })
        store.close()
        let file = try FileHandle(forUpdating: URL(filePath: log.path))
        try file.seek(toOffset: UInt64(60 * LogSchema.pageSize))
        try file.write(contentsOf: Data(repeating: 0xa5, count: LogSchema.pageSize))
        try file.close()
        let reader = try log.read()
        expect(.damaged) { () throws(AuditStoreError) in try reader.entries(in: 0..<2000) { _ in true } }
        do throws(AuditStoreError) {
            try reader.entries(in: 0..<2000) { _ in true }
        } catch {
            let number = error.description.split(separator: "entry ").last.flatMap { Int($0.prefix { $0.isNumber }) }
            #expect((500...1100).contains(number ?? 0), "\(error)")
        }
        #expect(try !reader.inspect().isEmpty)
    }

    /// Makes each page of a table the first one: a reader that continues after the last row finds it again.
    private func repeatFirstPage(of table: String) throws {
        let connection = try Connection(path: log.path, access: .immutable)
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
        let root = try #require(try connection.first(sql) { $0.integer(0) })
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: log.path)))
        let page = (root - 1) * LogSchema.pageSize
        func number(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
        // An inner page of a table (sqlite.org/fileformat2.html#b_tree_pages).
        try #require(bytes[page] == 5)
        let children = (0..<number(page + 3)).map { page + number(page + 12 + 2 * $0) } + [page + 8]
        let first = bytes[children[0]..<children[0] + 4]
        for child in children { bytes.replaceSubrange(child..<child + 4, with: first) }
        try Data(bytes).write(to: URL(filePath: log.path))
    }

    @Test("A read ends even if the table of entries has the same page again and again")
    func repeatedPage() throws {
        let store = try log.open()
        try store.append((0..<2000).map { _ in [UInt8](repeating: 65, count: 500) })
        store.close()
        try repeatFirstPage(of: "entry")
        let reader = try log.read()
        var seen = 0
        expect(.damaged) { () throws(AuditStoreError) in
            try reader.entries(in: 0..<2000) { _ in
                seen += 1
                return seen < 10_000
            }
        }
        var query = AuditQuery()
        for isLatestFirst in [true, false] {
            query.isLatestFirst = isLatestFirst
            seen = 0
            expect(.damaged) { () throws(AuditStoreError) in
                try reader.search(query) { _ in
                    seen += 1
                    return seen < 10_000
                }
            }
        }
    }

    @Test("The roots of segments are not read if their table has the same page again and again")
    func repeatedRoots() throws {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)"
        try log.tamper("\(numbers) INSERT INTO segment SELECT i, zeroblob(32) FROM n", "PRAGMA wal_checkpoint")
        #expect(try log.read().segmentRoots().count == 2000)
        try repeatFirstPage(of: "segment")
        let reader = try log.read()
        expect(.damaged) { () throws(AuditStoreError) in try reader.segmentRoots() }
        #expect(try !reader.inspect().isEmpty)
    }

    @Test("Checkpoints and registers over the limit are not read")
    func longLists() throws {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)"
        try log.tamper(
            "\(numbers) INSERT INTO checkpoint SELECT i, printf('%.*c', 1000, 'a') FROM n",
            "\(numbers) INSERT INTO register SELECT 'key/' || i, zeroblob(1000), 0 FROM n", "PRAGMA wal_checkpoint")
        let tables = try LogTables(opening: log.path, .readOnly)
        #expect(try tables.checkpoints().count == 20 && tables.registers().count == 20)
        tables.longestList = 19_000
        expect(.damaged) { () throws(AuditStoreError) in try tables.checkpoints() }
        expect(.damaged) { () throws(AuditStoreError) in try tables.registers() }
    }

    @Test("An entry with an impossible number is reported as damage without a trap", arguments: [Int.max, -5])
    func impossibleIndex(_ index: Int) throws {
        let store = try log.open()
        if index < 0 {
            try log.tamper("DROP TRIGGER entry_stays", "INSERT INTO entry VALUES (\(index), 0, x'00')")
        } else {
            try log.tamper("INSERT INTO entry VALUES (\(index), 0, x'00')")
        }
        store.close()
        let reader = try log.read()
        expect(.damaged) { () throws(AuditStoreError) in try reader.storedEnd() }
        _ = try log.read().bodies()
        _ = try? log.read().search(AuditQuery()) { _ in true }
    }

    @Test("A log behind a symbolic link is read with its write-ahead log")
    func symbolicLink() throws {
        try FileManager.default.createDirectory(atPath: log.directory + "/elsewhere", withIntermediateDirectories: true)
        try log.move("audit.db", "elsewhere/audit.db")
        try FileManager.default.createSymbolicLink(atPath: log.path, withDestinationPath: "elsewhere/audit.db")
        let store = try log.open()
        try store.append("one", "two")
        #expect(try log.read().bodies() == ["one", "two"])
        store.close()
    }

    @Test("A read fails if another log replaces the file")
    func replacedMeanwhile() throws {
        let store = try log.open()
        try store.append((0..<5000).map { _ in Array("entry".utf8) })
        store.close()
        try SQLiteAuditStore.create(
            at: AuditLocation(log.directory + "/other.db"), identity: AuditIdentity(origin: "other"))
        var seen = 0
        let reader = try log.read()
        expect(.replaced) { () throws(AuditStoreError) in
            try reader.entries(in: 0..<5000) { _ in
                if seen == 0 { rename(log.directory + "/other.db", log.path) }
                seen += 1
                return true
            }
        }
        #expect(seen > 0 && seen < 5000)
    }

    @Test("A search reports the entries that it expected and did not find", arguments: [true, false])
    func missingEntries(_ isLatestFirst: Bool) throws {
        let store = try log.open()
        try store.append((0..<1000).map { _ in Array("entry".utf8) })
        var query = AuditQuery()
        query.isLatestFirst = isLatestFirst
        func visit(_ count: Int) throws -> MissingEntries? {
            var seen = 0
            return try log.read().search(query) { _ in
                seen += 1
                return seen < count
            }.missing
        }
        #expect(try visit(.max) == nil)
        try log.tamper("DROP TRIGGER entry_remains", "DELETE FROM entry WHERE idx BETWEEN 400 AND 402 OR idx = 128")
        let all = try #require(try visit(.max))
        #expect(all.first == 128 && all.count == 4)
        #expect(all.sentence(beginningAt: 0).hasPrefix("4 entries are missing in the log, the first is 128:"))
        #expect(all.sentence(beginningAt: 4096).contains("were archived while they were read: from 128 on,"))
        // A search that stops before the gap does not report it.
        #expect(try visit(100) == nil)
        // Entries that the head covers are missing even at the end of the log.
        try log.tamper("DELETE FROM entry WHERE idx > 989")
        #expect(try visit(.max)?.count == 14)
        store.close()
    }
}

@Suite("Inspection of a log")
struct InspectionTests {
    @Test(
        "inspect finds changes to the store itself",
        arguments: [
            ["DROP TRIGGER entry_stays"],
            ["DROP TRIGGER head_grows", "CREATE TRIGGER head_grows BEFORE UPDATE ON head BEGIN SELECT 1; END"],
            ["CREATE TABLE mine (a)"], ["CREATE INDEX mine ON entry (mark)"], ["ALTER TABLE entry ADD COLUMN a TEXT"],
            ["DROP TABLE head"], ["DROP TRIGGER head_remains", "DELETE FROM head"],
            ["DROP TRIGGER segment_drops_forward", "UPDATE log SET first_segment = 1"],
            ["DROP TRIGGER segment_stays", "UPDATE segment SET root = x'00'"],
            ["PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'are never', 'might be')"],
        ])
    func tampering(_ statements: [String]) throws {
        let log = try TestLog()
        let store = try log.open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size))
        store.close()
        #expect(try log.read().inspect() == [])
        try log.tamper(statements.joined(separator: ";"))
        let sentences = try log.read().inspect()
        #expect(!sentences.isEmpty)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
    }

    @Test("inspect finds a missing segment root")
    func missingRoot() throws {
        let log = try TestLog()
        try log.open().append([[UInt8]](repeating: [1], count: 2 * AuditSegment.size))
        try log.tamper("DROP TRIGGER segment_remains", "DELETE FROM segment WHERE number = 0")
        let reader = try log.read()
        expect(.damaged) { () throws(AuditStoreError) in try reader.segmentRoots() }
        #expect(try !log.read().inspect().isEmpty)
    }
}
