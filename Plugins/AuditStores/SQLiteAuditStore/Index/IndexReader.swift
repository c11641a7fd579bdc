import AuditKit
import SQLite
import SigningKit

/// Looks things up in the index.
final class IndexReader {
    /// A segment that the index knows, and that is the log's.
    struct Segment {
        let earliest: Int64
        let latest: Int64

        /// Whether an entry may be in the query's time.
        func mayHold(_ query: AuditQuery) -> Bool {
            if let since = query.since, latest < since.milliseconds { return false }
            if let until = query.until, earliest >= until.milliseconds { return false }
            return true
        }

        /// Whether all entries that have a time are in the query's.
        func isWithin(_ query: AuditQuery) -> Bool {
            if let since = query.since, earliest < since.milliseconds { return false }
            if let until = query.until, latest >= until.milliseconds { return false }
            return true
        }
    }

    let segments: [Int: Segment]
    private let connection: Connection
    private let posting: Statement
    private let hashed: Statement
    private let findTerm: Statement

    /// - Parameter roots: the log's, by segment. What the index holds of other entries is not looked at.
    /// - Returns: nil where there is no index of the log.
    init?(at path: String, origin: String, roots: [[UInt8]]) throws(SQLiteError) {
        connection = try Connection(path: path, access: .readOnly)
        connection.wait(milliseconds: 1000)
        guard try IndexSchema.fits(connection, origin: origin) else { return nil }
        posting = try Statement("SELECT positions FROM posting WHERE segment = ? AND term = ?", on: connection)
        hashed = try Statement("SELECT numbers FROM hashed WHERE id = ?", on: connection)
        findTerm = try Statement("SELECT id FROM term WHERE field = ? AND value = ?", on: connection)
        let rows = try connection.all("SELECT number, root, earliest, latest FROM segment") { row in
            (row.integer(0), row.bytes(1), Segment(earliest: Int64(row.integer(2)), latest: Int64(row.integer(3))))
        }
        let valid = rows.filter { roots.indices.contains($0.0) && roots[$0.0] == $0.1 }
        segments = Dictionary(valid.map { ($0.0, $0.2) }) { first, _ in first }
    }

    /// Nil for a value that no indexed entry has.
    func id(of field: AuditTerm, _ value: String) throws(SQLiteError) -> Int? {
        defer { findTerm.reset() }
        try findTerm.bind(field.number, at: 1)
        try findTerm.bind(Array(value.utf8), at: 2)
        return try findTerm.step() ? findTerm.integer(0) : nil
    }

    /// Where entries with the term are. Nil when the index says something that means nothing.
    func positions(ofTerm id: Int, in segment: Int) throws(SQLiteError) -> Positions? {
        defer { posting.reset() }
        try posting.bind(segment, at: 1)
        try posting.bind(id, at: 2)
        return try posting.step() ? Positions(encoded: posting.bytes(0)) : Positions()
    }

    /// Where entries with the value may be.
    func positions(of value: String, _ field: AuditTerm, in segment: Int) throws(SQLiteError) -> Positions {
        defer { hashed.reset() }
        try hashed.bind(IndexSchema.row(of: field, in: segment), at: 1)
        guard try hashed.step() else { return Positions() }
        return hashed.withBytes(0) { HashedValues.positions(of: value, in: $0) }
    }

    /// What was counted in a segment.
    func tallies(in segment: Int) throws(SQLiteError) -> [(key: TallyKey, count: Int)] {
        try connection.all(
            """
            SELECT hour, client.value, feature.value, key.value, outcome.value, count FROM tally
            LEFT JOIN term AS client ON client.id = tally.client LEFT JOIN term AS feature ON feature.id = tally.feature
            LEFT JOIN term AS key ON key.id = tally.key LEFT JOIN term AS outcome ON outcome.id = tally.outcome
            WHERE segment = \(segment) AND hour BETWEEN \(TallyKey.hours.lowerBound) AND \(TallyKey.hours.upperBound)
            """
        ) { row in
            func term(_ field: AuditTerm, _ column: Int32) -> IndexedTerm? {
                row.isNull(column) ? nil : IndexedTerm(field, bytes: row.bytes(column))
            }
            let key = TallyKey(
                hour: row.integer(0), client: term(.client, 1), feature: term(.feature, 2), key: term(.key, 3),
                outcome: term(.outcome, 4) ?? IndexedTerm(.outcome, ""))
            return (key, row.integer(5))
        }
    }
}
