import AuditKit
import Glibc
import SQLite

/// A log's database: its queries, with the errors of the store.
final class LogTables {
    /// Entries per batch. No snapshot is open during a visit: it would keep the write-ahead log from being reset.
    static let batchSize = 1024

    let connection: Connection
    let path: String
    /// The bytes that all checkpoints, or all registers, may have: far more than a gateway writes.
    var longestList = 1 << 30

    init(_ connection: Connection, at path: String) {
        self.connection = connection
        self.path = path
    }

    convenience init(opening path: String, _ access: Connection.Access) throws(AuditStoreError) {
        self.init(
            try AuditStoreError.at(path) { () throws(SQLiteError) in try Connection(path: path, access: access) },
            at: path)
    }

    // MARK: Statements

    func execute(_ sql: String) throws(AuditStoreError) {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.execute(sql) }
    }

    func run(_ sql: String, _ values: BoundValue...) throws(AuditStoreError) {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.visit(sql, values) { _ in true } }
    }

    /// Runs a statement that must store one row: a trigger that was added while the gateway runs can drop it silently.
    func store(_ sql: String, _ values: BoundValue...) throws(AuditStoreError) {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.visit(sql, values) { _ in true } }
        guard connection.changedRows != 1 else { return }
        throw .failed(
            "The database \(path) did not store a row of the audit log. Look for a trigger that does not belong there: privyseal "
                + "audit verify names it.")
    }

    func first<Value>(_ sql: String, _ read: (Row) -> Value) throws(AuditStoreError) -> Value? {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.first(sql, [], read) }
    }

    func all<Value>(_ sql: String, _ read: (Row) -> Value) throws(AuditStoreError) -> [Value] {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.all(sql, [], read) }
    }

    func pragma(_ name: String) throws(AuditStoreError) -> String? {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.pragma(name) }
    }

    func number(_ sql: String) throws(AuditStoreError) -> Int { try first(sql) { $0.integer(0) } ?? 0 }

    // MARK: Entries

    /// The first entries of a range in ascending order, or its last entries in descending order.
    ///
    /// - Throws: `.damaged` if the table has entries in another order: a read of such a table may never end.
    func batch(
        of range: Range<Int>, isLatestFirst: Bool = false, limit: Int = batchSize
    ) throws(AuditStoreError) -> [StoredEntry] {
        let sql =
            isLatestFirst
            ? "SELECT idx, mark, body FROM entry WHERE idx >= ? AND idx < ? ORDER BY idx DESC LIMIT ?"
            : "SELECT idx, mark, body FROM entry WHERE idx >= ? AND idx < ? ORDER BY idx LIMIT ?"
        var (rest, entries, isOrdered) = (range, [StoredEntry](), true)
        let values: [BoundValue] = [.integer(range.lowerBound), .integer(range.upperBound), .integer(limit)]
        do throws(SQLiteError) {
            try connection.visit(sql, values) { row in
                let index = row.integer(0)
                isOrdered = rest.contains(index)
                guard isOrdered else { return false }
                rest = isLatestFirst ? rest.lowerBound..<index : index + 1..<rest.upperBound
                entries.append(Self.entry(row))
                return true
            }
        } catch {
            throw damage(error, near: isLatestFirst ? rest.upperBound : rest.lowerBound)
        }
        guard isOrdered else {
            throw .damaged("The audit log \(path) has entries in the wrong order near entry \(rest.lowerBound).")
        }
        return entries
    }

    /// The existing entries among these indexes, in the same order, from one snapshot.
    func entries(at indexes: some Sequence<Int>) throws(AuditStoreError) -> [StoredEntry] {
        // Without the transaction, each statement would acquire and release its own lock.
        try execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        var entries: [StoredEntry] = []
        for index in indexes {
            do throws(SQLiteError) {
                let sql = "SELECT idx, mark, body FROM entry WHERE idx = ?"
                if let entry = try connection.first(sql, [.integer(index)], Self.entry) { entries.append(entry) }
            } catch {
                throw damage(error, near: index)
            }
        }
        return entries
    }

    func visit(_ range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try Self.visit(range, visit) { (rest) throws(AuditStoreError) in try batch(of: rest) }
    }

    /// - Parameter batch: as `batch(of:)`.
    static func visit(
        _ range: Range<Int>, _ visit: EntryVisitor,
        in batch: (Range<Int>) throws(AuditStoreError) -> [StoredEntry]
    ) throws(AuditStoreError) {
        var range = range
        while !range.isEmpty {
            let entries = try batch(range)
            for entry in entries where try !visit(entry) { return }
            guard entries.count == Self.batchSize, let last = entries.last else { return }
            range = last.index + 1..<range.upperBound
        }
    }

    private static func entry(_ row: Row) -> StoredEntry {
        StoredEntry(index: row.integer(0), body: row.bytes(2), mark: UInt64(truncatingIfNeeded: row.integer(1)))
    }

    private func damage(_ error: SQLiteError, near index: Int) -> AuditStoreError {
        guard case .damaged = AuditStoreError(error, at: path) else { return AuditStoreError(error, at: path) }
        return .damaged("The audit log \(path) is damaged at or after entry \(index): \(error).")
    }

    // MARK: Bookkeeping

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        let head = try first("SELECT size, note FROM head", Self.readHead)
        guard let head, !(0..<Int.max).contains(head.size) else { return head }
        throw .damaged("The audit log \(path) has a head over \(head.size) entries, which is impossible.")
    }

    private static func readHead(_ row: Row) -> SignedTreeHead {
        SignedTreeHead(size: row.integer(0), note: row.text(1))
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
        // A longer value is not a root, and would take memory.
        var (roots, isWhole) = ([[UInt8]](), true)
        try AuditStoreError.at(path) { () throws(SQLiteError) in
            try connection.visit("SELECT number, substr(root, 1, 33) FROM segment ORDER BY number") { row in
                isWhole = row.integer(0) == roots.count
                if isWhole { roots.append(row.bytes(1)) }
                return isWhole
            }
        }
        guard isWhole else { throw .damaged("The audit log \(path) has no root of segment \(roots.count).") }
        return roots
    }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] {
        try bounded("SELECT size, note FROM checkpoint ORDER BY size", Self.readHead)
    }

    /// Empty for a log of version 1.
    func registers() throws(AuditStoreError) -> [AuditRegister] {
        guard try number("SELECT count(*) FROM sqlite_schema WHERE name = 'register'") != 0 else { return [] }
        let registers = try bounded("SELECT name, value, entry FROM register ORDER BY name") {
            AuditRegister(name: $0.text(0), value: $0.bytes(1), entry: $0.integer(2))
        }
        for register in registers where !(0..<Int.max).contains(register.entry) {
            throw .damaged(
                "The audit log \(path) names an impossible entry for the register \(register.name).")
        }
        return registers
    }

    /// All rows of a query. A changed file can name the same pages again and again, so its size does not limit them.
    private func bounded<Value>(_ sql: String, _ read: (Row) -> Value) throws(AuditStoreError) -> [Value] {
        var (values, rest) = ([Value](), longestList)
        try AuditStoreError.at(path) { () throws(SQLiteError) in
            try connection.visit(sql) { row in
                rest -= row.byteCount + 64
                if rest >= 0 { values.append(read(row)) }
                return rest >= 0
            }
        }
        guard rest >= 0 else {
            throw .damaged(
                "The audit log \(path) has a list of more than \(longestList) bytes, which is impossible.")
        }
        return values
    }
}

extension LogTables {
    /// Faults of the store itself, as sentences.
    func faults() throws(AuditStoreError) -> [String] {
        try AuditStoreError.faults([pageFaults, schemaFaults, bookkeepingFaults])
    }

    private func pageFaults() throws(AuditStoreError) -> [String] {
        let findings = try all("PRAGMA integrity_check(20)") { $0.text(0) }
        return findings == ["ok"] ? [] : findings.map { "SQLite finds: \($0)." }
    }

    private func schemaFaults() throws(AuditStoreError) -> [String] {
        try AuditStoreError.at(path) { () throws(SQLiteError) in try LogSchema.differences(in: connection) }
    }

    private func bookkeepingFaults() throws(AuditStoreError) -> [String] {
        var sentences: [String] = []
        let (first, begin, roots) = (try firstSegment(), try firstIndex(), try segmentRoots())
        if first > roots.count {
            sentences.append("\(first) segments were dropped, but only \(roots.count) were closed.")
        }
        // A table whose pages name each other has no end.
        let early = try number("SELECT count(*) FROM (SELECT 1 FROM entry WHERE idx < \(begin) LIMIT 1000000)")
        if early > 0 {
            let count = early == 1 ? "1 entry is" : "\(early) entries are"
            sentences.append("\(count) before index \(begin), where the log begins.")
        }
        let entries = try number("SELECT count(*) FROM (SELECT 1 FROM entry LIMIT 1)") + first
        if entries > 0, try head() == nil { sentences.append("The log has entries and no head.") }
        let wrong = roots.count { $0.count != 32 }
        if wrong > 0 { sentences.append("\(wrong) roots of segments are not hashes.") }
        return sentences
    }
}

extension AuditStoreError {
    init(_ error: SQLiteError, at path: String) {
        switch error.code.primary {
        case .full: self = .full("No space is left for the audit log \(path): \(error).")
        case .readOnly where error.code == .databaseMoved:
            self = .replaced("The audit log \(path) is no longer the file that was opened: \(error).")
        case .readOnly: self = .readOnly("The audit log \(path) cannot be written: \(error).")
        case .busy, .locked, .protocolFailed:
            self = .busy("Another process has locked the audit log \(path): \(error).")
        // The statements are correct, so the tables must be wrong.
        case .error: self = .damaged("The audit log \(path) has a changed schema: \(error).")
        // No written value comes near the length limit of readers.
        case .corrupt, .notADatabase, .tooBig: self = .damaged("The audit log \(path) is damaged: \(error).")
        default:
            self =
                switch error.systemError {
                case ENOSPC, EDQUOT: .full("No space is left for the audit log \(path): \(error).")
                case EROFS: .readOnly("The audit log \(path) is on a read-only file system: \(error).")
                default: .failed("The audit log \(path) could not be used: \(error).")
                }
        }
    }

    /// Runs `body` and maps its errors.
    static func at<Value>(
        _ path: String, _ body: () throws(SQLiteError) -> Value
    ) throws(AuditStoreError) -> Value {
        do {
            return try body()
        } catch {
            throw AuditStoreError(error, at: path)
        }
    }
}
