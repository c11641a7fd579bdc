import AuditKit
import SQLite
import SigningKit

/// Reads the index.
final class IndexReader {
    /// An indexed segment whose root is the one in the log.
    struct Segment {
        let earliest: Int64
        let latest: Int64

        /// Whether an entry may be in the query's period.
        func mayHold(_ query: AuditQuery) -> Bool {
            if let since = query.since, latest < since.milliseconds { return false }
            if let until = query.until, earliest >= until.milliseconds { return false }
            return true
        }

        /// Whether all entries with a time are in the query's period.
        func isWithin(_ query: AuditQuery) -> Bool {
            if let since = query.since, earliest < since.milliseconds { return false }
            if let until = query.until, latest >= until.milliseconds { return false }
            return true
        }
    }

    /// The positions in a segment of the entries that may match.
    enum Candidates {
        case all
        /// In ascending order.
        case positions([Int])
    }

    let segments: [Int: Segment]
    private let connection: Connection
    private let value: Statement

    /// - Parameter roots: the roots of the log by segment. Segments with other roots are ignored.
    /// - Returns: nil if there is no index of the log.
    init?(at path: String, origin: String, roots: [[UInt8]]) throws(SQLiteError) {
        connection = try Connection(path: path, access: .readOnly)
        connection.wait(milliseconds: 1000)
        guard try IndexSchema.fits(connection, origin: origin) else { return nil }
        value = try Statement(
            "SELECT position FROM value WHERE segment = ? AND field = ? AND hash = ? ORDER BY position", on: connection)
        let rows = try connection.all("SELECT number, root, earliest, latest FROM segment") { row in
            (row.integer(0), row.bytes(1), Segment(earliest: Int64(row.integer(2)), latest: Int64(row.integer(3))))
        }
        let valid = rows.filter { roots.indices.contains($0.0) && roots[$0.0] == $0.1 }
        segments = Dictionary(valid.map { ($0.0, $0.2) }) { first, _ in first }
    }

    func candidates(for query: AuditQuery, in segment: Int) throws(SQLiteError) -> Candidates {
        guard segments[segment]?.mayHold(query) == true else { return .positions([]) }
        var candidates: [Int]?
        for (field, text) in query.terms {
            let found = try positions(of: text, field, in: segment)
            candidates = candidates.map { $0.filter(Set(found).contains) } ?? found
            if candidates?.isEmpty == true { break }
        }
        return candidates.map(Candidates.positions) ?? .all
    }

    private func positions(of text: String, _ field: AuditTerm, in segment: Int) throws(SQLiteError) -> [Int] {
        defer { value.reset() }
        try value.bind(segment, at: 1)
        try value.bind(field.number, at: 2)
        try value.bind(AuditTerm.hash(text), at: 3)
        var positions: [Int] = []
        // A modified index may hold any number.
        while try value.step() { positions.append(value.integer(0)) }
        return positions.filter((0..<AuditSegment.size).contains)
    }

    func tallies(in segment: Int) throws(SQLiteError) -> [(key: TallyKey, count: Int)] {
        try connection.all(
            """
            SELECT hour, client, feature, key, outcome, count FROM tally
            WHERE segment = \(segment) AND hour BETWEEN \(TallyKey.hours.lowerBound) AND \(TallyKey.hours.upperBound)
            """
        ) { row in
            func text(_ column: Int32) -> ExactText? {
                row.isNull(column) ? nil : ExactText(String(decoding: row.bytes(column), as: UTF8.self))
            }
            let key = TallyKey(
                hour: row.integer(0), client: text(1), feature: text(2), key: text(3),
                outcome: text(4) ?? ExactText(""))
            return (key, row.integer(5))
        }
    }
}
