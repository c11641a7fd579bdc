import AuditKit
import SQLite
import SigningKit

/// The search index, a database of its own. All of it is derived from the log, so a damaged index is removed and built
/// again. A search reads each entry that the index names in the log.
enum IndexSchema {
    /// `PSix`.
    static let applicationID = 0x5053_6978
    /// An index of another version is removed.
    static let version = 2
    private static let pageSize = 4096

    private static let tables = [
        "CREATE TABLE log (id INTEGER PRIMARY KEY, origin TEXT NOT NULL) STRICT",
        // The root of the segment's subtree binds the index to the entries. Times in milliseconds.
        """
        CREATE TABLE segment (
            number INTEGER PRIMARY KEY, root BLOB NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL
        ) STRICT
        """,
        // One row for each value of an entry. The segment comes first, so that the table grows at its end.
        """
        CREATE TABLE value (
            segment INTEGER NOT NULL, field INTEGER NOT NULL, hash INTEGER NOT NULL, position INTEGER NOT NULL,
            PRIMARY KEY (segment, field, hash, position)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE tally (
            segment INTEGER NOT NULL, hour INTEGER NOT NULL, client TEXT, feature TEXT, key TEXT, outcome TEXT NOT NULL,
            count INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX tally_segment ON tally (segment)",
    ]

    static func create(in connection: Connection, origin: String) throws(SQLiteError) {
        try connection.execute("PRAGMA page_size = \(pageSize)")
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute("PRAGMA application_id = \(applicationID)")
            try connection.execute("PRAGMA user_version = \(version)")
            for table in tables { try connection.execute(table) }
            try connection.run("INSERT INTO log VALUES (1, ?)", .text(origin))
        }
    }

    /// Whether it is an index of this version and of this log.
    static func fits(_ connection: Connection, origin: String) throws(SQLiteError) -> Bool {
        guard try connection.number("application_id") == applicationID,
            try connection.number("user_version") == version
        else { return false }
        // Refuse any other object: a view may never end, and a trigger would run with every row that is written.
        let found = try connection.all("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
        guard found.sorted() == tables.sorted() else { return false }
        return try connection.first("SELECT origin FROM log") { $0.text(0) } == origin
    }
}

/// Reads the index.
final class IndexReader: SegmentIndex {
    let segments: [Int: IndexedSegment]
    private let connection: Connection

    /// - Parameter roots: the roots of the log by segment. Segments with other roots are ignored.
    /// - Returns: nil if there is no index of the log.
    init?(at path: String, origin: String, roots: [[UInt8]]) throws(SQLiteError) {
        connection = try Connection(path: path, access: .readOnly)
        connection.limitValues(to: Self.longestValue)
        connection.wait(milliseconds: 1000)
        guard try IndexSchema.fits(connection, origin: origin) else { return nil }
        var (segments, last) = ([Int: IndexedSegment](), -1)
        try connection.visit("SELECT number, root, earliest, latest FROM segment ORDER BY number") { row in
            let number = row.integer(0)
            guard number > last, number < roots.count else { return false }
            last = number
            if roots[number] == row.bytes(1) {
                segments[number] = IndexedSegment(earliest: Int64(row.integer(2)), latest: Int64(row.integer(3)))
            }
            return true
        }
        self.segments = segments
    }

    func candidates(for query: AuditQuery, in segment: Int) throws -> [Int]? {
        try candidates(for: query, in: segment) { field, hash in
            // A modified index may hold any number of rows.
            try connection.all(
                "SELECT position FROM value WHERE segment = ? AND field = ? AND hash = ? ORDER BY position LIMIT ?",
                [.integer(segment), .integer(field), .integer(hash), .integer(AuditSegment.size)]
            ) { $0.integer(0) }
        }
    }

    func tallies(in segment: Int) throws(SQLiteError) -> [(key: TallyKey, count: Int)] {
        try connection.all(
            "SELECT hour, client, feature, key, outcome, count FROM tally WHERE segment = ? LIMIT ?",
            [.integer(segment), .integer(Self.longestList)]
        ) { row -> (key: TallyKey, count: Int)? in
            func text(_ column: Int32) -> String? { row.isNull(column) ? nil : row.text(column) }
            let key = TallyKey(
                hour: row.integer(0), client: text(1), feature: text(2), key: text(3), outcome: text(4))
            return key.map { ($0, row.integer(5)) }
        }.compactMap(\.self)
    }

    /// Limits what a modified index can make a search read: a segment has far fewer counts, and each is shorter.
    private static let (longestList, longestValue) = (100_000, 4096)
}

/// Adds segments to the index.
final class IndexWriter {
    private let connection: Connection

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
        try connection.transaction { () throws(SQLiteError) in
            try connection.run("DELETE FROM value WHERE segment < ?", .integer(number))
            try connection.run("DELETE FROM tally WHERE segment < ?", .integer(number))
            try connection.run("DELETE FROM segment WHERE number < ?", .integer(number))
        }
    }

    func add(_ summary: SegmentSummary, segment: Int, root: [UInt8]) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try connection.run(
                "INSERT INTO segment VALUES (?, ?, ?, ?)", .integer(segment), .blob(root),
                .integer(Int(summary.earliest)), .integer(Int(summary.latest)))
            // In the order of the primary key, so that the table grows at its end. An entry may name a value twice.
            for (field, hash, position) in summary.values.sorted(by: <) {
                try connection.run(
                    "INSERT OR IGNORE INTO value VALUES (?, ?, ?, ?)", .integer(segment), .integer(field),
                    .integer(hash), .integer(position))
            }
            for (key, count) in summary.tallies {
                func text(_ text: ExactText?) -> BoundValue { text.map { .text($0.text) } ?? .null }
                try connection.run(
                    "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?)", .integer(segment),
                    .integer(Int(key.begin.milliseconds / TallyKey.hour)), text(key.client), text(key.feature),
                    text(key.key), text(key.outcome), .integer(count))
            }
        }
    }
}
