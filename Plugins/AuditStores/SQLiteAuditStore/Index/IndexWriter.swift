import AuditKit
import SQLite
import SigningKit

/// Adds segments to the index.
final class IndexWriter {
    private let connection: Connection
    private let segment: Statement
    private let value: Statement
    private let tally: Statement

    /// - Parameter path: the path of an index, or of an empty file.
    /// - Returns: nil for an index that must be removed.
    init?(at path: String, origin: String) throws(SQLiteError) {
        connection = try Connection(path: path, access: .create)
        connection.wait(milliseconds: 1000)
        // A rollback journal leaves one file, which can be copied. A lost index costs time only, but a part of it must
        // not pass for the whole, so its writes are synchronized.
        _ = try connection.pragma("journal_mode = DELETE")
        try connection.execute("PRAGMA synchronous = NORMAL")
        if try connection.number("page_count") == 0 {
            try IndexSchema.create(in: connection, origin: origin)
        }
        guard try IndexSchema.fits(connection, origin: origin) else { return nil }
        segment = try Statement("INSERT INTO segment VALUES (?, ?, ?, ?)", on: connection)
        value = try Statement("INSERT INTO value VALUES (?, ?, ?, ?)", on: connection)
        tally = try Statement("INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?)", on: connection)
    }

    /// The roots by segment.
    func roots() throws(SQLiteError) -> [Int: [UInt8]] {
        let rows = try connection.all("SELECT number, root FROM segment") { ($0.integer(0), $0.bytes(1)) }
        return Dictionary(rows) { first, _ in first }
    }

    /// Whether SQLite finds its pages intact.
    func isSound() throws(SQLiteError) -> Bool { try connection.pragma("quick_check(1)") == "ok" }

    /// Removes segments that were dropped from the log.
    func remove(segmentsBefore number: Int) throws(SQLiteError) {
        try inTransaction { () throws(SQLiteError) in
            for table in ["value", "tally"] {
                try connection.execute("DELETE FROM \(table) WHERE segment < \(number)")
            }
            try connection.execute("DELETE FROM segment WHERE number < \(number)")
        }
    }

    func add(_ summary: SegmentSummary, segment number: Int, root: [UInt8]) throws(SQLiteError) {
        try inTransaction { () throws(SQLiteError) in
            try segment.bind(number, at: 1)
            try segment.bind(Int(summary.earliest), at: 3)
            try segment.bind(Int(summary.latest), at: 4)
            try segment.run(with: root, at: 2)
            try value.bind(number, at: 1)
            // In the order of the primary key, so that the table grows at its end.
            for row in summary.values.sorted() {
                try value.bind(row.field, at: 2)
                try value.bind(row.hash, at: 3)
                try value.bind(row.position, at: 4)
                try value.run()
            }
            for (key, count) in summary.tallies { try add(key, count, number) }
        }
    }

    private func add(_ key: TallyKey, _ count: Int, _ number: Int) throws(SQLiteError) {
        try tally.bind(number, at: 1)
        try tally.bind(key.hour, at: 2)
        for (offset, text) in [key.client, key.feature, key.key, key.outcome].enumerated() {
            try tally.bind(text?.text, at: Int32(3 + offset))
        }
        try tally.bind(count, at: 7)
        try tally.run()
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
