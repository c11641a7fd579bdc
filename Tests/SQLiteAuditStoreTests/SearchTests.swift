import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import SigningKit
import Testing

@testable import SQLiteAuditStore

@Suite("Searching a log")
struct SearchTests {
    let log: TestLog
    private let bodies: [[UInt8]]
    private let fields: [EntryFields?]
    private let store: SQLiteAuditStore
    private var entries: RandomEntries

    init() throws {
        log = try TestLog()
        entries = RandomEntries(seed: 4)
        bodies = entries.bodies(2 * AuditSegment.size + 200)
        fields = bodies.map { EntryFields($0) }
        store = try log.open()
        try store.append(bodies)
    }

    // MARK: Expected results

    private func expected(_ query: AuditQuery, from first: Int = 0) -> [Int] {
        let hits = bodies.indices.filter { $0 >= first && fields[$0]?.match(query) ?? query.isForEverything }
        return query.isLatestFirst ? hits.reversed() : hits
    }

    private func found(_ query: AuditQuery) throws -> [Int] {
        var found: [Int] = []
        try log.read().search(query) { entry in
            found.append(entry.index)
            return true
        }
        return found
    }

    private mutating func checkQueries(_ count: Int = 8, from first: Int = 0) throws {
        for _ in 0..<count {
            let query = entries.query()
            #expect(try found(query) == expected(query, from: first), "\(query)")
        }
    }

    private func index() throws -> Set<Int> {
        guard
            let reader = try IndexReader(
                at: log.index, origin: TestLog.identity.origin, roots: (0..<2).map(TestRoot.of))
        else { return [] }
        return Set(reader.segments.keys)
    }

    // MARK: With, without and with part of an index

    @Test("A search finds the same entries as a full scan, whatever is indexed")
    mutating func property() throws {
        #expect(!log.files.contains("audit.index.db"))
        try checkQueries()
        try store.index()
        #expect(try index() == [0, 1])
        try checkQueries(25)
        let connection = try Connection(path: log.index, access: .readWrite)
        try connection.execute("DELETE FROM segment WHERE number = 1")
        #expect(try index() == [0])
        try checkQueries()
    }

    @Test("A search reports entries that the index names and the log lacks", arguments: [true, false])
    func missing(isLatestFirst: Bool) throws {
        try store.index()
        var query = AuditQuery()
        query.isLatestFirst = isLatestFirst
        query.terms[.user] = "user-7"
        let hits = expected(query)
        let gone = try #require(hits.first { (1000..<AuditSegment.size).contains($0) })
        try log.tamper("DROP TRIGGER entry_remains", "DELETE FROM entry WHERE idx = \(gone)")
        var found: [Int] = []
        let missing = try log.read().search(query) { entry in
            found.append(entry.index)
            return true
        }.missing
        #expect(found == hits.filter { $0 != gone })
        #expect(missing?.first == gone && missing?.count == 1)
    }

    @Test("A search without the index finds entries that the index lacks")
    func withoutIndex() throws {
        var query = AuditQuery()
        query.terms[.user] = "user-7"
        let hits = expected(query)
        try store.index()
        try Connection(path: log.index, access: .readWrite).execute("DELETE FROM value")
        #expect(try log.read().search(query) { _ in true }.found < hits.count)
        query.usesIndex = false
        let coverage = try log.read().search(query) { _ in true }
        #expect(coverage.found == hits.count && coverage.byIndex == 0)
    }

    @Test("Counts omit hours that no entry can have")
    func hours() throws {
        try store.index()
        let connection = try Connection(path: log.index, access: .readWrite)
        try connection.execute("UPDATE tally SET hour = 72057594037927936 - hour WHERE segment = 0")
        try connection.execute("UPDATE tally SET hour = hour - 9223372036854775807 WHERE segment = 1")
        let begins = try log.read().tallies(AuditQuery()).tallies.keys.map(\.begin)
        #expect(!begins.isEmpty && begins.allSatisfy { $0.rfc3339.count == 24 })
    }

    // MARK: A damaged index is discarded

    @Test("A missing, damaged, outdated or foreign index is rebuilt")
    mutating func rebuilt() throws {
        try store.index()
        let damages: [(String) throws -> Void] = [
            { path in try FileManager.default.removeItem(atPath: path) },
            { path in try Data(repeating: 7, count: 5000).write(to: URL(filePath: path)) },
            { path in
                let file = try FileHandle(forUpdating: URL(filePath: path))
                for page in 2..<12 {
                    try file.seek(toOffset: UInt64(page * 4096))
                    try file.write(contentsOf: Data(repeating: 0x5a, count: 4096))
                }
                try file.close()
            },
            { path in try Connection(path: path, access: .readWrite).execute("PRAGMA user_version = 99") },
            { path in try Connection(path: path, access: .readWrite).execute("UPDATE log SET origin = 'other'") },
            { path in try Connection(path: path, access: .readWrite).execute("UPDATE segment SET root = x'00'") },
        ]
        for damage in damages {
            try damage(log.index)
            // Searches are complete without the index.
            try checkQueries(2)
            // The store checks the index when it is opened.
            let store = try log.open()
            try store.index()
            try store.index()
            #expect(try index() == [0, 1])
            try checkQueries(1)
        }
    }

    @Test("A search ignores invalid postings of the index")
    mutating func nonsense() throws {
        try store.index()
        let connection = try Connection(path: log.index, access: .readWrite)
        // All positions of the index lie outside of a segment; the entries are there all the same.
        try connection.execute("INSERT INTO value SELECT segment, field, hash, position + 1000000 FROM value")
        try connection.execute("INSERT OR IGNORE INTO value SELECT segment, field, hash, \(Int.max) FROM value")
        try checkQueries()
    }

    @Test("An index cannot add false matches to a search")
    func forgedHits() throws {
        try store.index()
        let connection = try Connection(path: log.index, access: .readWrite)
        let hash = AuditTerm.hash("client-1")
        try connection.execute("INSERT OR IGNORE INTO value SELECT segment, 1, \(hash), position FROM value")
        var query = AuditQuery()
        query.terms = [.client: "client-1"]
        #expect(try found(query) == expected(query))
    }

    @Test("Dropped segments leave the index, and a copy without an index can be searched")
    mutating func dropped() throws {
        try store.index()
        try store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 1) }
        try checkQueries(4, from: AuditSegment.size)
        try store.index()
        #expect(try index() == [1])
        try checkQueries(4, from: AuditSegment.size)
        store.close()
        try FileManager.default.removeItem(atPath: log.index)
        try checkQueries(2, from: AuditSegment.size)
        #expect(log.files == ["audit.db"])
    }
}
