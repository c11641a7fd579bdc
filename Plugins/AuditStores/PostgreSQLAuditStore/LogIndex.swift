import AuditKit
import PostgreSQL
import SigningKit

/// Reads the search index of a log.
struct LogIndex: SegmentIndex {
    let segments: [Int: IndexedSegment]
    private let database: LogDatabase

    /// - Parameter roots: the roots of the log by segment. Segments with other roots are ignored.
    init(_ database: LogDatabase, roots: [[UInt8]]) throws(AuditStoreError) {
        self.database = database
        let rows = try database.all(
            "SELECT number, root, earliest, latest FROM privyseal.index_segment WHERE log = $1", .integer(database.log)
        ) { row in
            (
                number: row.integer(0), root: row.bytes(1),
                segment: IndexedSegment(earliest: Int64(row.integer(2)), latest: Int64(row.integer(3)))
            )
        }
        let valid = rows.filter { roots.indices.contains($0.number) && roots[$0.number] == $0.root }
        segments = Dictionary(valid.map { ($0.number, $0.segment) }) { first, _ in first }
    }

    func candidates(for query: AuditQuery, in segment: Int) throws -> [Int]? {
        try candidates(for: query, in: segment) { field, hash in
            let rows = try database.all(
                """
                SELECT substring(positions FROM 1 FOR \(2 * AuditSegment.size)) FROM privyseal.index_value
                WHERE log = $1 AND segment = $2 AND field = $3 AND hash = $4
                """, .integer(database.log), .integer(segment), .integer(field), .integer(hash)
            ) { $0.bytes(0) }
            return Self.positions(in: rows.first ?? [])
        }
    }

    func tallies(in segment: Int) throws -> [(key: TallyKey, count: Int)] {
        try database.all(
            """
            SELECT hour, client, feature, key, outcome, count FROM privyseal.index_tally
            WHERE log = $1 AND segment = $2 LIMIT 100000
            """, .integer(database.log), .integer(segment)
        ) { row -> (key: TallyKey, count: Int)? in
            func text(_ column: Int32) -> String? {
                row.isNull(column) ? nil : String(decoding: row.bytes(column), as: UTF8.self)
            }
            let key = TallyKey(
                hour: row.integer(0), client: text(1), feature: text(2), key: text(3), outcome: text(4))
            return key.map { ($0, row.integer(5)) }
        }.compactMap(\.self)
    }

    // MARK: Positions

    /// Two bytes for each position, big-endian.
    static func bytes(of positions: Set<Int>) -> [UInt8] {
        positions.sorted().flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func positions(in bytes: [UInt8]) -> [Int] {
        stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }
}

/// Makes the search index beside the writer, segment by segment.
struct LogIndexing {
    /// Segments that are indexed at a time.
    private static let segmentsPerRun = 4
    /// Between two queries for segments that are not indexed.
    private static let interval = Duration.seconds(5)

    let location: DatabaseLocation
    private var database: LogDatabase?
    private var last: ContinuousClock.Instant?
    private var isClosed = false

    init(location: DatabaseLocation) {
        self.location = location
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    mutating func run() throws(AuditStoreError) {
        guard !isClosed else { throw .closed }
        guard last.map({ .now - $0 >= Self.interval }) ?? true else { return }
        let open =
            if let database, database.connection.isUsable { database } else {
                try LogDatabase(location, for: .readWrite(timeout: .seconds(1)))
            }
        database = open
        let missing = try open.all(
            """
            SELECT s.number, s.root FROM privyseal.segment s LEFT JOIN privyseal.index_segment i
            ON i.log = s.log AND i.number = s.number AND i.root = s.root
            WHERE s.log = $1 AND i.number IS NULL
            AND s.number BETWEEN 0 AND \(Int.max / AuditSegment.size - 1)
            AND s.number >= (SELECT first_segment FROM privyseal.log WHERE id = $1)
            ORDER BY s.number LIMIT \(Self.segmentsPerRun)
            """, .integer(open.log)
        ) { (number: $0.integer(0), root: $0.bytes(1)) }
        for segment in missing { try Self.add(segment.number, root: segment.root, to: open) }
        try Self.removeDropped(from: open)
        // Continue at once while segments are missing.
        last = missing.count < Self.segmentsPerRun ? .now : nil
    }

    private static func add(_ segment: Int, root: [UInt8], to database: LogDatabase) throws(AuditStoreError) {
        var summary = SegmentSummary()
        try database.visit(AuditSegment.entries(of: segment)) { entry in
            summary.add(entry)
            return true
        }
        struct Value: Hashable {
            let field: Int
            let hash: Int
        }
        let values = Dictionary(grouping: summary.values) { Value(field: $0.field, hash: $0.hash) }
        let keys = values.keys.sorted { ($0.field, $0.hash) < ($1.field, $1.hash) }
        let tallies = Array(summary.tallies)
        func bytes(_ text: ExactText?) -> [UInt8]? { text.map { Array($0.text.utf8) } }
        try transaction(in: database) { () throws(AuditStoreError) in
            for table in ["index_value", "index_tally"] {
                try database.run(
                    "DELETE FROM privyseal.\(table) WHERE log = $1 AND segment = $2", .integer(database.log),
                    .integer(segment))
            }
            try database.run(
                """
                INSERT INTO privyseal.index_value
                SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::bytea[])
                """, .integer(database.log), .integer(segment), .integers(keys.map(\.field)),
                .integers(keys.map(\.hash)),
                .byteArrays(keys.map { LogIndex.bytes(of: Set((values[$0] ?? []).map(\.position))) }))
            try database.run(
                """
                INSERT INTO privyseal.index_tally
                SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[])
                """, .integer(database.log), .integer(segment),
                .integers(tallies.map { Int($0.key.begin.milliseconds / TallyKey.hour) }),
                .byteArrays(tallies.map { bytes($0.key.client) }), .byteArrays(tallies.map { bytes($0.key.feature) }),
                .byteArrays(tallies.map { bytes($0.key.key) }), .byteArrays(tallies.map { bytes($0.key.outcome) }),
                .integers(tallies.map(\.value)))
            try database.run(
                """
                INSERT INTO privyseal.index_segment VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (log, number) DO UPDATE
                SET root = excluded.root, earliest = excluded.earliest, latest = excluded.latest
                """, .integer(database.log), .integer(segment), .bytes(root), .integer(Int(summary.earliest)),
                .integer(Int(summary.latest)))
        }
    }

    /// Removes segments that were dropped from the log.
    private static func removeDropped(from database: LogDatabase) throws(AuditStoreError) {
        let dropped = try database.number(
            """
            SELECT count(*) FROM privyseal.index_segment WHERE log = $1
            AND number < (SELECT first_segment FROM privyseal.log WHERE id = $1)
            """)
        guard dropped > 0 else { return }
        try transaction(in: database) { () throws(AuditStoreError) in
            for (table, column) in [
                ("index_value", "segment"), ("index_tally", "segment"), ("index_segment", "number"),
            ] {
                try database.run(
                    """
                    DELETE FROM privyseal.\(table) WHERE log = $1
                    AND \(column) < (SELECT first_segment FROM privyseal.log WHERE id = $1)
                    """, .integer(database.log))
            }
        }
    }

    private static func transaction(
        in database: LogDatabase, _ body: () throws(AuditStoreError) -> Void
    ) throws(AuditStoreError) {
        try database.run("BEGIN")
        do throws(AuditStoreError) {
            try body()
            try database.run("COMMIT")
        } catch {
            if database.connection.isUsable { _ = try? database.connection.execute("ROLLBACK") }
            throw error
        }
    }
}
