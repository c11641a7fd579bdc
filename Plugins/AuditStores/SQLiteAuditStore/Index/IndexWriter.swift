import AuditKit
import SQLite

/// Adds segments to the index.
final class IndexWriter {
    private let connection: Connection
    private let segment: Statement
    private let term: Statement
    private let findTerm: Statement
    private let posting: Statement
    private let hashed: Statement
    private let tally: Statement

    /// - Parameter path: where an index is, or none.
    /// - Returns: nil for an index that cannot be used and has to be thrown away.
    init?(at path: String, origin: String) throws(SQLiteError) {
        connection = try Connection(path: path, access: .create)
        connection.wait(milliseconds: 1000)
        // A rollback journal leaves one file, which can be copied. Losing it costs time only, but half of it must not
        // be mistaken for all, so it is synchronized, though less often.
        _ = try connection.pragma("journal_mode = DELETE")
        try connection.execute("PRAGMA synchronous = NORMAL")
        if try connection.number("page_count") == 0 {
            try IndexSchema.create(in: connection, origin: origin)
        }
        guard try IndexSchema.fits(connection, origin: origin) else { return nil }
        segment = try Statement("INSERT INTO segment VALUES (?, ?, ?, ?)", on: connection)
        term = try Statement("INSERT INTO term (field, value) VALUES (?, ?) RETURNING id", on: connection)
        findTerm = try Statement("SELECT id FROM term WHERE field = ? AND value = ?", on: connection)
        posting = try Statement("INSERT INTO posting VALUES (?, ?, ?)", on: connection)
        hashed = try Statement("INSERT INTO hashed VALUES (?, ?)", on: connection)
        tally = try Statement("INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?)", on: connection)
    }

    /// By segment.
    func roots() throws(SQLiteError) -> [Int: [UInt8]] {
        let rows = try connection.all("SELECT number, root FROM segment") { ($0.integer(0), $0.bytes(1)) }
        return Dictionary(rows) { first, _ in first }
    }

    /// Whether SQLite finds its pages in order.
    func isSound() throws(SQLiteError) -> Bool { try connection.pragma("quick_check(1)") == "ok" }

    /// Takes out what was dropped from the log.
    func remove(segmentsBefore number: Int) throws(SQLiteError) {
        try inTransaction { () throws(SQLiteError) in
            try connection.execute("DELETE FROM posting WHERE segment < \(number)")
            try connection.execute("DELETE FROM hashed WHERE id < \(number * 16)")
            try connection.execute("DELETE FROM tally WHERE segment < \(number)")
            try connection.execute("DELETE FROM segment WHERE number < \(number)")
        }
    }

    func add(_ summary: SegmentSummary, segment number: Int, root: [UInt8]) throws(SQLiteError) {
        try inTransaction { () throws(SQLiteError) in
            try add(row: summary, number, root)
            // In the order of the key: the table grows at its end.
            var postings: [(term: Int, positions: [UInt8])] = []
            for (term, positions) in summary.postings { postings.append((try id(of: term), positions.encoded)) }
            for (term, positions) in postings.sorted(by: { $0.term < $1.term }) {
                try posting.bind(number, at: 1)
                try posting.bind(term, at: 2)
                try posting.run(with: positions, at: 3)
            }
            for (field, values) in summary.hashed {
                try hashed.bind(IndexSchema.row(of: field, in: number), at: 1)
                try hashed.run(with: values.encoded, at: 2)
            }
            for (key, count) in summary.tallies { try add(key, count, number) }
        }
    }

    private func add(row summary: SegmentSummary, _ number: Int, _ root: [UInt8]) throws(SQLiteError) {
        try segment.bind(number, at: 1)
        try segment.bind(Int(summary.earliest), at: 3)
        try segment.bind(Int(summary.latest), at: 4)
        try segment.run(with: root, at: 2)
    }

    private func add(_ key: TallyKey, _ count: Int, _ number: Int) throws(SQLiteError) {
        try tally.bind(number, at: 1)
        try tally.bind(key.hour, at: 2)
        for (place, term) in [key.client, key.feature, key.key, key.outcome].enumerated() {
            var id = 0
            if let term { id = try self.id(of: term) }
            try tally.bind(id, at: Int32(3 + place))
        }
        try tally.bind(count, at: 7)
        try tally.run()
    }

    private func id(of wanted: IndexedTerm) throws(SQLiteError) -> Int {
        for statement in [findTerm, term] {
            defer { statement.reset() }
            try statement.bind(wanted.field.number, at: 1)
            try statement.bind(wanted.value, at: 2)
            if try statement.step() {
                let id = statement.integer(0)
                // RETURNING gives its row before the statement has ended.
                _ = try statement.step()
                return id
            }
        }
        return 0
    }

    private func inTransaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}
