import AuditKit
import PostgreSQL

/// A connection and one log in its database: the queries, with the errors of the store.
final class LogDatabase {
    /// Entries per batch of a read.
    static let batchSize = 1024
    /// The bytes that all checkpoints, or all registers, may have: far more than a gateway writes.
    private static let longestResult = 256 << 20

    let location: DatabaseLocation
    let connection: Connection
    let identity: AuditIdentity
    /// The log's number in the database.
    let log: Int

    /// - Throws: `.missing` if the database has no such log.
    convenience init(_ location: DatabaseLocation, for access: DatabaseLocation.Access) throws(AuditStoreError) {
        let connection = try location.connect(for: access)
        let logs = try Self.logs(in: connection, at: location)
        guard logs.count == 1, let only = logs.first else {
            guard logs.isEmpty else {
                throw .unfit(
                    "\(location.name) holds several audit logs: \(logs.map(\.identity.origin).joined(separator: ", ")). "
                        + "Name one by its origin.")
            }
            let name = location.origin.map { " of \($0)" } ?? ""
            throw .missing("There is no audit log\(name) in \(location.name).")
        }
        try self.init(connection, only, at: location)
    }

    init(
        _ connection: Connection, _ found: (number: Int, identity: AuditIdentity), at location: DatabaseLocation
    ) throws(AuditStoreError) {
        guard found.identity.formatVersion == AuditIdentity.currentFormat else {
            throw .unfit(
                "The entries of the audit log \(found.identity.origin) in \(location.name) have format "
                    + "\(found.identity.formatVersion); this program supports \(AuditIdentity.currentFormat).")
        }
        connection.longestResult = Self.longestResult
        self.location = location
        self.connection = connection
        (log, identity) = (found.number, found.identity)
    }

    /// The logs in the database that the location selects; none if there are no tables.
    static func logs(
        in connection: Connection, at location: DatabaseLocation
    ) throws(AuditStoreError) -> [(number: Int, identity: AuditIdentity)] {
        let version = try location.mappingErrors { () throws(PostgreSQLError) in
            try LogSchema.version(in: connection)
        }
        guard let version else { return [] }
        guard version == LogSchema.version else {
            throw .unfit(
                "The audit logs in \(location.name) have version \(version) of the store; this program supports "
                    + "\(LogSchema.version).")
        }
        var logs: [(number: Int, identity: AuditIdentity)] = []
        try location.mappingErrors { () throws(PostgreSQLError) in
            _ = try connection.visit(
                "SELECT id, origin, format FROM privyseal.log WHERE $1 = '' OR origin = $1 ORDER BY origin LIMIT \(mostLogs + 1)",
                [.text(location.origin ?? "")]
            ) { row in
                logs.append((row.integer(0), AuditIdentity(origin: row.text(1), formatVersion: row.integer(2))))
                return true
            }
        }
        guard logs.count <= mostLogs else {
            throw .damaged("\(location.name) has more than \(mostLogs) audit logs, which is impossible.")
        }
        return logs
    }

    private static let mostLogs = 10_000

    // MARK: Statements

    @discardableResult
    func run(_ sql: String, _ values: BoundValue...) throws(AuditStoreError) -> Int {
        try location.mappingErrors { () throws(PostgreSQLError) in try connection.visit(sql, values) { _ in true } }
    }

    /// Runs statements in one round trip.
    ///
    /// - Returns: for each statement, the number of rows that it inserted, changed or removed.
    func run(_ statements: [Statement]) throws(AuditStoreError) -> [Int] {
        try location.mappingErrors { () throws(PostgreSQLError) in try connection.visit(statements) { _ in true } }
    }

    /// - Returns: the server's command tag.
    @discardableResult
    func execute(_ sql: String) throws(AuditStoreError) -> String {
        try location.mappingErrors { () throws(PostgreSQLError) in try connection.execute(sql) }
    }

    func requireDurability() throws(AuditStoreError) {
        try location.mappingErrors { () throws(PostgreSQLError) in try ServerDurability.require(in: connection) }
    }

    /// Runs a statement that must store one row.
    func store(_ statement: Statement) throws(AuditStoreError) {
        try requireStored(run([statement]).first ?? 0, of: 1)
    }

    /// A trigger or a rule that was added while the gateway runs can drop rows silently.
    func requireStored(_ count: Int, of expected: Int) throws(AuditStoreError) {
        guard count != expected else { return }
        throw .failed(
            "The database \(location.name) stored \(count) of \(expected) rows. Look for a trigger or a rule that does not belong "
                + "there: privyseal audit verify names it.")
    }

    func all<Value>(_ sql: String, _ values: BoundValue..., read: (Row) -> Value) throws(AuditStoreError) -> [Value] {
        var rows: [Value] = []
        try location.mappingErrors { () throws(PostgreSQLError) in
            _ = try connection.visit(sql, values) {
                rows.append(read($0))
                return true
            }
        }
        return rows
    }

    /// Begins a transaction with some statements, in one round trip.
    ///
    /// - Returns: the rows of all of them.
    func begin<Value>(_ statements: Statement..., read: (Row) -> Value) throws(AuditStoreError) -> [Value] {
        var rows: [Value] = []
        try location.mappingErrors { () throws(PostgreSQLError) in
            _ = try connection.visit([Statement("BEGIN")] + statements) {
                rows.append(read($0))
                return true
            }
        }
        return rows
    }

    func number(_ sql: String) throws(AuditStoreError) -> Int {
        try all(sql, .integer(log)) { $0.integer(0) }.first ?? 0
    }

    // MARK: Entries

    /// The first entries of a range in ascending order, or its last entries in descending order.
    ///
    /// - Throws: `.damaged` if the server sends entries in another order: a read of them may never end.
    func batch(
        of range: Range<Int>, isLatestFirst: Bool = false, limit: Int = batchSize
    ) throws(AuditStoreError) -> [StoredEntry] {
        let sql =
            """
            SELECT idx, mark, body FROM privyseal.entry WHERE log = $1 AND idx >= $2 AND idx < $3
            ORDER BY idx \(isLatestFirst ? "DESC" : "ASC") LIMIT $4
            """
        let entries = try all(
            sql, .integer(log), .integer(range.lowerBound), .integer(range.upperBound), .integer(limit),
            read: Self.entry)
        var rest = range
        for entry in entries {
            guard rest.contains(entry.index) else {
                throw .damaged(
                    "The audit log in \(location.name) has entries in the wrong order near entry \(rest.lowerBound).")
            }
            rest = isLatestFirst ? rest.lowerBound..<entry.index : entry.index + 1..<rest.upperBound
        }
        return entries
    }

    /// The existing entries among these indexes, which are in ascending or descending order.
    func entries(at indexes: [Int]) throws(AuditStoreError) -> [StoredEntry] {
        let found = try all(
            "SELECT idx, mark, body FROM privyseal.entry WHERE log = $1 AND idx = ANY($2)", .integer(log),
            .integers(indexes), read: Self.entry)
        let byIndex = Dictionary(found.map { ($0.index, $0) }) { first, _ in first }
        return indexes.compactMap { byIndex[$0] }
    }

    func visit(_ range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        var range = range
        while !range.isEmpty {
            let entries = try batch(of: range)
            for entry in entries where try !visit(entry) { return }
            guard entries.count == Self.batchSize, let last = entries.last else { return }
            range = last.index + 1..<range.upperBound
        }
    }

    private static func entry(_ row: Row) -> StoredEntry {
        StoredEntry(index: row.integer(0), body: row.bytes(2), mark: UInt64(truncatingIfNeeded: row.integer(1)))
    }

    // MARK: Bookkeeping

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        let heads = try all("SELECT size, note FROM privyseal.log WHERE id = $1", .integer(log), read: Self.readHead)
        return try checked(heads.first ?? nil)
    }

    /// Nil for a log without entries, whose note is empty.
    static func readHead(_ row: Row) -> SignedTreeHead? {
        let note = row.text(1)
        return note.isEmpty ? nil : SignedTreeHead(size: row.integer(0), note: note)
    }

    func checked(_ head: SignedTreeHead?) throws(AuditStoreError) -> SignedTreeHead? {
        guard let head, !(0..<Int.max).contains(head.size) else { return head }
        throw .damaged("The audit log in \(location.name) has a head over \(head.size) entries, which is impossible.")
    }

    /// The index after the last entry.
    func end() throws(AuditStoreError) -> Int {
        let last = try number("SELECT coalesce(max(idx), -1) FROM privyseal.entry WHERE log = $1")
        guard last != -1 else { return try firstIndex() }
        guard (0..<Int.max).contains(last) else {
            throw .damaged("The audit log in \(location.name) has an entry \(last), which is impossible.")
        }
        return last + 1
    }

    /// The segments before it were dropped.
    func firstSegment() throws(AuditStoreError) -> Int {
        let number = try number("SELECT first_segment FROM privyseal.log WHERE id = $1")
        guard (0...Int.max / AuditSegment.size).contains(number) else {
            throw .damaged("The audit log in \(location.name) does not state its first segment.")
        }
        return number
    }

    func firstIndex() throws(AuditStoreError) -> Int { try firstSegment() * AuditSegment.size }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] {
        let segments = try all(
            "SELECT number, substring(root FROM 1 FOR 33) FROM privyseal.segment WHERE log = $1 ORDER BY number",
            .integer(log)
        ) { (number: $0.integer(0), root: $0.bytes(1)) }
        for (expected, segment) in segments.enumerated() where segment.number != expected {
            throw .damaged("The audit log in \(location.name) has no root of segment \(expected).")
        }
        return segments.map(\.root)
    }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] {
        try all("SELECT size, note FROM privyseal.checkpoint WHERE log = $1 ORDER BY size", .integer(log)) {
            SignedTreeHead(size: $0.integer(0), note: $0.text(1))
        }
    }

    func registers() throws(AuditStoreError) -> [AuditRegister] {
        let registers = try all(
            #"SELECT name, value, entry FROM privyseal.register WHERE log = $1 ORDER BY name COLLATE "C""#,
            .integer(log)
        ) { AuditRegister(name: $0.text(0), value: $0.bytes(1), entry: $0.integer(2)) }
        for register in registers where !(0..<Int.max).contains(register.entry) {
            throw .damaged(
                "The audit log in \(location.name) names an impossible entry for the register \(register.name).")
        }
        return registers
    }
}

extension LogDatabase {
    /// Faults of the store itself, as sentences.
    func faults() throws(AuditStoreError) -> [String] {
        try AuditStoreError.faults([schemaFaults, bookkeepingFaults])
    }

    func schemaFaults() throws(AuditStoreError) -> [String] {
        try location.mappingErrors { () throws(PostgreSQLError) in try LogSchema.differences(in: connection) }
    }

    private func bookkeepingFaults() throws(AuditStoreError) -> [String] {
        var sentences: [String] = []
        let (first, roots) = (try firstSegment(), try segmentRoots())
        if first > roots.count {
            sentences.append("\(first) segments were dropped, but only \(roots.count) were closed.")
        }
        let early = try number(
            """
            SELECT count(*) FROM privyseal.entry WHERE log = $1
            AND idx < (SELECT first_segment FROM privyseal.log WHERE id = $1) * \(AuditSegment.size)
            """)
        if early > 0 {
            let count = early == 1 ? "1 entry is" : "\(early) entries are"
            sentences.append("\(count) before index \(first * AuditSegment.size), where the log begins.")
        }
        let entries = try number("SELECT count(*) FROM (SELECT 1 FROM privyseal.entry WHERE log = $1 LIMIT 1) AS e")
        if entries + first > 0, try head() == nil { sentences.append("The log has entries and no head.") }
        let wrong = roots.count { $0.count != 32 }
        if wrong > 0 { sentences.append("\(wrong) roots of segments are not hashes.") }
        return sentences
    }
}

extension DatabaseLocation {
    /// Runs `body` and maps its errors.
    func mappingErrors<Value>(_ body: () throws(PostgreSQLError) -> Value) throws(AuditStoreError) -> Value {
        do throws(PostgreSQLError) { return try body() } catch { throw failure(error) }
    }
}
