import AuditKit
import SQLite

/// The queries on a log's database, with statements that are prepared once.
final class LogTables {
    /// Entries per batch. No snapshot is open during a visit: it would keep the write-ahead log from being reset.
    static let batchSize = 1024

    let connection: Connection
    let path: String
    private let ascending: Statement
    private let descending: Statement
    private let single: Statement
    /// Other statements, by their SQL text: every commit reads the head.
    private var prepared: [String: Statement] = [:]

    init(_ connection: Connection, at path: String) throws(AuditStoreError) {
        self.connection = connection
        self.path = path
        let columns = "SELECT idx, mark, body FROM entry WHERE"
        (ascending, descending, single) = try AuditStoreError.at(path) { () throws(SQLiteError) in
            (
                try Statement("\(columns) idx >= ? AND idx < ? ORDER BY idx LIMIT ?", on: connection),
                try Statement("\(columns) idx >= ? AND idx < ? ORDER BY idx DESC LIMIT ?", on: connection),
                try Statement("\(columns) idx = ?", on: connection)
            )
        }
    }

    // MARK: Entries

    /// The first entries of a range in ascending order, or its last entries in descending order.
    func batch(
        of range: Range<Int>, isLatestFirst: Bool = false, limit: Int = batchSize
    ) throws(AuditStoreError) -> [StoredEntry] {
        let statement = isLatestFirst ? descending : ascending
        defer { statement.reset() }
        var entries: [StoredEntry] = []
        do throws(SQLiteError) {
            try statement.bind(range.lowerBound, at: 1)
            try statement.bind(range.upperBound, at: 2)
            try statement.bind(limit, at: 3)
            while try statement.step() { entries.append(Self.entry(in: statement)) }
        } catch {
            let last = entries.last?.index
            throw failure(error, near: last ?? (isLatestFirst ? range.upperBound : range.lowerBound))
        }
        return entries
    }

    /// The existing entries among these indexes, in the same order, from one snapshot.
    func entries(at indexes: some Sequence<Int>) throws(AuditStoreError) -> [StoredEntry] {
        try snapshot { () throws(AuditStoreError) in
            var entries: [StoredEntry] = []
            for index in indexes {
                defer { single.reset() }
                do throws(SQLiteError) {
                    try single.bind(index, at: 1)
                    if try single.step() { entries.append(Self.entry(in: single)) }
                } catch {
                    throw failure(error, near: index)
                }
            }
            return entries
        }
    }

    func visit(
        _ range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        var range = range
        while !range.isEmpty {
            let entries = try batch(of: range)
            for entry in entries where try !visit(entry) { return }
            guard entries.count == Self.batchSize, let last = entries.last else { return }
            range = last.index + 1..<range.upperBound
        }
    }

    private static func entry(in row: Statement) -> StoredEntry {
        StoredEntry(index: row.integer(0), body: row.bytes(2), mark: row.bits(1))
    }

    private func failure(_ error: SQLiteError, near index: Int) -> AuditStoreError {
        guard case .damaged = AuditStoreError(error, at: path) else { return AuditStoreError(error, at: path) }
        return .damaged("The audit log \(path) is damaged at or after entry \(index): \(error).")
    }

    /// Without it each statement would acquire and release its own lock.
    private func snapshot<Value>(_ body: () throws(AuditStoreError) -> Value) throws(AuditStoreError) -> Value {
        guard !connection.isInTransaction else { return try body() }
        try execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        return try body()
    }

    func execute(_ sql: String) throws(AuditStoreError) {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.execute(sql) }
    }

    // MARK: Bookkeeping

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        let head = try first("SELECT size, note FROM head") { SignedTreeHead(size: $0.integer(0), note: $0.text(1)) }
        guard let head, !(0..<Int.max).contains(head.size) else { return head }
        throw .damaged("The audit log \(path) has a head over \(head.size) entries, which is impossible.")
    }

    /// The index after the last entry.
    func end() throws(AuditStoreError) -> Int {
        let last = try first("SELECT max(idx) FROM entry") { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
        guard let last else { return try firstIndex() }
        guard (0..<Int.max).contains(last) else {
            throw .damaged("The audit log \(path) has an entry \(last), which is impossible.")
        }
        return last + 1
    }

    /// The segments before it were dropped.
    func firstSegment() throws(AuditStoreError) -> Int {
        let number = try first("SELECT first_segment FROM log") { $0.integer(0) }
        guard let number, (0...Int.max / AuditSegment.size).contains(number) else {
            throw .damaged("The audit log \(path) does not state its first segment.")
        }
        return number
    }

    func firstIndex() throws(AuditStoreError) -> Int { try firstSegment() * AuditSegment.size }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] {
        let rows = try all("SELECT number, root FROM segment ORDER BY number") { ($0.integer(0), $0.bytes(1)) }
        for (position, row) in rows.enumerated() where row.0 != position {
            throw .damaged("The audit log \(path) has no root of segment \(position).")
        }
        return rows.map(\.1)
    }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] {
        try all("SELECT size, note FROM checkpoint ORDER BY size") {
            SignedTreeHead(size: $0.integer(0), note: $0.text(1))
        }
    }

    /// Empty for a log of version 1.
    func registers() throws(AuditStoreError) -> [AuditRegister] {
        let count = try first("SELECT count(*) FROM sqlite_schema WHERE name = 'register'") { $0.integer(0) }
        guard count != 0 else { return [] }
        let registers = try all("SELECT name, value, entry FROM register ORDER BY name") {
            AuditRegister(name: $0.text(0), value: $0.bytes(1), entry: $0.integer(2))
        }
        for register in registers where !(0..<Int.max).contains(register.entry) {
            throw .damaged(
                "The audit log \(path) names an impossible entry for the register \(register.name).")
        }
        return registers
    }

    func first<Value>(_ sql: String, _ read: (Statement) -> Value) throws(AuditStoreError) -> Value? {
        try AuditStoreError.at(path) { () throws(SQLiteError) in
            let statement = try statement(sql)
            defer { statement.reset() }
            return try statement.step() ? read(statement) : nil
        }
    }

    private func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = prepared[sql] { return statement }
        let statement = try Statement(sql, on: connection)
        prepared[sql] = statement
        return statement
    }

    func all<Value>(_ sql: String, _ read: (Statement) -> Value) throws(AuditStoreError) -> [Value] {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.all(sql, read) }
    }
}
