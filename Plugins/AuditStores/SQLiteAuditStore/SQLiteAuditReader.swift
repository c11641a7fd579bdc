import AuditKit
import SQLite

/// Reads a log, or a copy of one.
final class SQLiteAuditReader: AuditReader {
    let identity: AuditIdentity
    let location: LogLocation
    /// Set only during a read: an open connection would keep removed files open.
    private var source: ReadingSource?
    private var isReading = false
    private var isClosed = false

    init(at location: LogLocation) throws(AuditStoreError) {
        self.location = location
        identity = try ReadingSource(at: location.path).identity
    }

    func close() { isClosed = true }

    /// Keeps the connection open between the calls of `tables()` in `body`.
    private func reading<Value>(_ body: () throws(AuditStoreError) -> Value) throws(AuditStoreError) -> Value {
        // A visit may start another read.
        let isOutermost = !isReading
        isReading = true
        defer { if isOutermost { (source, isReading) = (nil, false) } }
        return try body()
    }

    /// - Parameter method: a method of `LogTables`.
    private func read<Value>(
        _ method: (LogTables) -> () throws(AuditStoreError) -> Value
    ) throws(AuditStoreError) -> Value {
        try reading { () throws(AuditStoreError) in try method(tables())() }
    }

    /// The tables of the current files.
    func tables() throws(AuditStoreError) -> LogTables {
        guard !isClosed else { throw .closed }
        if let source, try source.isCurrent() { return source.tables }
        // A connection to the earlier files would prevent a new one.
        source = nil
        let opened = try ReadingSource(at: location.path)
        guard opened.identity == identity else {
            throw .replaced("\(location.path) is another audit log now, of \(opened.identity.origin).")
        }
        source = opened
        return opened.tables
    }

    // MARK: AuditReader

    func head() throws(AuditStoreError) -> SignedTreeHead? { try read(LogTables.head) }

    func firstIndex() throws(AuditStoreError) -> Int { try read(LogTables.firstIndex) }

    func storedEnd() throws(AuditStoreError) -> Int { try read(LogTables.end) }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try read(LogTables.segmentRoots) }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] { try read(LogTables.checkpoints) }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try read(LogTables.registers) }

    /// SQLite's check of its pages, the schema, and the bookkeeping tables.
    func inspect() throws(AuditStoreError) -> [String] { try read(LogTables.faults) }

    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try reading { () throws(AuditStoreError) in
            try LogTables.visit(range, visit) { (rest) throws(AuditStoreError) in
                // Get the tables for each batch: to read a whole log takes time, and a writer may open it meanwhile.
                try self.tables().batch(of: rest)
            }
        }
    }

    func search(_ query: AuditQuery, _ visit: EntryVisitor) throws(AuditStoreError) -> SearchCoverage {
        try reading { () throws(AuditStoreError) in try SQLiteSearch(reader: self).search(query, visit) }
    }

    func tallies(_ query: AuditQuery) throws(AuditStoreError) -> (tallies: [TallyKey: Int], coverage: SearchCoverage) {
        try reading { () throws(AuditStoreError) in try SQLiteSearch(reader: self).tallies(query) }
    }
}

/// What a search reads: the tables of the current files, and the index beside them.
private struct SQLiteSearch: SearchableLog {
    let reader: SQLiteAuditReader

    func head() throws(AuditStoreError) -> SignedTreeHead? { try reader.head() }

    func firstIndex() throws(AuditStoreError) -> Int { try reader.firstIndex() }

    func storedEnd() throws(AuditStoreError) -> Int { try reader.storedEnd() }

    func batch(of range: Range<Int>, isLatestFirst: Bool, limit: Int) throws(AuditStoreError) -> [StoredEntry] {
        try reader.tables().batch(of: range, isLatestFirst: isLatestFirst, limit: limit)
    }

    func entries(at indexes: [Int]) throws(AuditStoreError) -> [StoredEntry] {
        try reader.tables().entries(at: indexes)
    }

    func segmentIndex() throws(AuditStoreError) -> (any SegmentIndex)? {
        let path = reader.location.index
        let roots = try reader.segmentRoots()
        guard try FileIdentity(path)?.isRegular == true else { return nil }
        return try? IndexReader(at: path, origin: reader.identity.origin, roots: roots)
    }
}

/// A read connection, and the check whether it still has the current file.
struct ReadingSource {
    let tables: LogTables
    let identity: AuditIdentity
    private let path: String
    private let files: LogFileSet
    private let isImmutable: Bool

    /// Milliseconds to wait for a lock, which a process holds for a moment while it recovers a log after a crash.
    private static let timeout = 5000
    /// In bytes: every entry, note and register is far shorter.
    private static let longestValue = 4 << 20

    init(at path: String) throws(AuditStoreError) {
        guard let found = try LogFileSet(at: path) else { throw LogFiles.gone(path) }
        guard found.database.isRegular else {
            throw .unfit("\(path) is not a regular file, so it is not an audit log.")
        }
        try LogFiles.refuseJournal(beside: path)
        self.path = path
        let isImmutable = try !Self.hasLog(path)
        self.isImmutable = isImmutable
        // An immutable file has no other files, and SQLite takes no locks.
        if isImmutable {
            (tables, files) = (try Self.tables(at: path, isImmutable), found)
        } else {
            (tables, files) = try OpenLogs.shared.open(path) { (_) throws(AuditStoreError) in
                try Self.tables(at: path, isImmutable)
            }
        }
        identity = try tables.identity()
    }

    private static func tables(at path: String, _ isImmutable: Bool) throws(AuditStoreError) -> LogTables {
        let tables = try LogTables(opening: path, isImmutable ? .immutable : .readOnly)
        tables.connection.limitValues(to: longestValue)
        tables.connection.wait(milliseconds: timeout)
        try tables.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        do throws(AuditStoreError) {
            try tables.checkKind()
            try tables.checkTables()
        } catch {
            throw try explained(error, at: path, isImmutable)
        }
        return tables
    }

    /// Whether there is a write-ahead log. If not, nothing writes, and a read needs no files beside the database.
    private static func hasLog(_ path: String) throws(AuditStoreError) -> Bool {
        let path = LogLocation.resolved(path)
        guard let log = try FileIdentity(path + "-wal") else { return false }
        if log.size > 0 { return true }
        return try FileIdentity(path + "-shm") != nil
    }

    private static func explained(
        _ error: AuditStoreError, at path: String, _ isImmutable: Bool
    ) throws(AuditStoreError) -> AuditStoreError {
        guard !isImmutable, try FileIdentity(LogLocation.resolved(path) + "-shm") == nil else { return error }
        switch error {
        case .failed, .readOnly, .missing:
            return .failed(
                "The audit log \(path) has a -wal file, and reading it needs a -shm file, which cannot be created "
                    + "here: copy both files to a writable directory.")
        default: return error
        }
    }

    /// False if other files are at the path, or if a database that was read as immutable has a writer now.
    func isCurrent() throws(AuditStoreError) -> Bool {
        guard let now = try LogFileSet(at: path) else { throw LogFiles.gone(path) }
        guard isImmutable else { return now.isSame(as: files) }
        let hasLog = try Self.hasLog(path)
        return now.database.isSameFile(as: files.database) && !hasLog
    }
}
