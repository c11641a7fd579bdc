import AuditKit
import SQLite

/// The connection that appends entries.
final class Writer {
    let identity: AuditIdentity
    let files: LogFiles
    let connection: Connection
    let log: WriteAheadLog
    private let tables: LogTables
    private let statements: WritingStatements
    /// Whether its state is unreliable, so that a new writer must replace it.
    private(set) var isUnreliable = false
    /// Whether a write succeeded, so the log appender has accepted this log as the right one.
    private(set) var isAccepted = false

    init(at path: String, timeout: Duration) throws(AuditStoreError) {
        let connection = try Self.connect(to: path, timeout: timeout)
        self.connection = connection
        let version = try LogSchema.checkKind(of: connection, at: path)
        try Self.makeDurable(connection, at: path)
        if version != LogSchema.version {
            try AuditStoreError.at(path) { () throws(SQLiteError) in try LogSchema.upgrade(connection) }
        }
        identity = try LogSchema.identity(in: connection, at: path)
        let differences = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try LogSchema.differences(in: connection)
        }
        if let first = differences.first { throw .damaged("The audit log \(path) has a changed schema. \(first)") }
        tables = try LogTables(connection, at: path)
        statements = try AuditStoreError.at(path) { () throws(SQLiteError) in try WritingStatements(on: connection) }
        files = try LogFiles(at: path, of: connection)
        let pageSize = try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.number("page_size") }
        log = WriteAheadLog(at: files.logPath, pageSize: pageSize ?? LogSchema.pageSize)
        connection.countLogPages()
    }

    static func connect(to path: String, timeout: Duration) throws(AuditStoreError) -> Connection {
        guard let file = try FileIdentity(path) else { throw LogFiles.gone(path) }
        guard file.isRegular else { throw .unfit("\(path) is not a regular file, so it is not an audit log.") }
        guard file.isWritable else { throw LogFiles.readOnly(path) }
        try LogFiles.refuseJournal(beside: path)
        let connection = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try Connection(path: path, access: .readWrite)
        }
        guard !connection.isReadOnly else { throw LogFiles.readOnly(path) }
        // Do not checkpoint on close: after a restore, the -wal file may belong to another database.
        connection.keepLogOnClose(true)
        let (seconds, attoseconds) = timeout.components
        connection.wait(milliseconds: Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        return connection
    }

    static func makeDurable(_ connection: Connection, at path: String) throws(AuditStoreError) {
        let durability = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try Durability.set(on: connection)
            return try Durability(of: connection)
        }
        guard durability == .required else {
            throw .failed(
                "The audit log \(path) cannot be written durably: journal_mode is \(durability.journalMode ?? "unknown"), "
                    + "synchronous \(durability.synchronous ?? -1).")
        }
    }

    func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try run(statements.beginTransaction)
        let transaction = SQLiteTransaction(tables, statements)
        let outcome: Outcome
        let size: Int?
        let writtenBefore = connection.pagesWritten
        do throws(AuditStoreError) {
            defer { transaction.end() }
            outcome = try body(transaction)
            size = try log.size()
            try run(statements.commit)
        } catch {
            rollBack(after: error)
            throw error
        }
        log.didCommit(on: connection, written: connection.pagesWritten - writtenBefore, sizeBefore: size)
        // A commit into files that were moved or truncated meanwhile is not in the log at this path.
        if try change() == .logCutOff { throw files.cutOff }
        try files.checkInPlace()
        if !isAccepted { connection.keepLogOnClose(false) }
        isAccepted = true
        return outcome
    }

    private func run(_ statement: Statement) throws(AuditStoreError) {
        try AuditStoreError.at(files.path) { () throws(SQLiteError) in try statement.run() }
    }

    private func rollBack(after error: AuditStoreError) {
        // SQLite has already rolled back after some errors.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        if case .damaged = error { isUnreliable = true }
        if connection.isInTransaction { isUnreliable = true }
    }

    func change() throws(AuditStoreError) -> LogFiles.Change {
        let change = try files.change()
        guard change == .none, log.isCutOff else { return change }
        // The rest of a truncated write-ahead log, with its holes, must not reach the database.
        connection.keepLogOnClose(true)
        return .logCutOff
    }

    /// Checkpoints a write-ahead log that was removed while it was in use, before it is closed. The checkpoint must be
    /// complete and recorded in the WAL index: SQLite shares the index between the connections of a process, and the
    /// next writer would otherwise append in the middle of a new file.
    func checkpointRemovedLog() throws(AuditStoreError) {
        let isEmpty = try AuditStoreError.at(files.path) { () throws(SQLiteError) in try connection.truncateLog() }
        // A reader still uses the log: the next write tries again.
        if !isEmpty { try files.checkInPlace() }
    }

    /// Checks the whole log after its files were restored. A database with a write-ahead log of another database looks
    /// intact in its first pages, but lacks others.
    func checkWhole() throws(AuditStoreError) {
        let verdict = try AuditStoreError.at(files.path) { () throws(SQLiteError) in
            try connection.pragma("quick_check(1)")
        }
        let count = try tables.first("SELECT count(*) FROM entry") { $0.integer(0) } ?? 0
        let head = try tables.head()
        let first = try tables.firstIndex()
        guard verdict == "ok", count == (head?.size ?? 0) - first else {
            throw .replaced(
                "The audit log \(files.path) was replaced, and its -wal file does not belong to it or entries are "
                    + "missing: restore both files from the same backup.")
        }
    }
}

/// The settings that make a commit durable. Every writing connection sets them and reads them back: a power failure may
/// undo a commit whose write-ahead log was not synchronized, although the client already has the signature.
struct Durability: Hashable, Sendable {
    let journalMode: String?
    /// 2 is FULL: every commit synchronizes the write-ahead log (sqlite.org/pragma.html#pragma_synchronous).
    let synchronous: Int?
    /// 0: SQLite runs no checkpoint within a commit.
    let automaticCopy: Int?

    static let required = Durability(journalMode: "wal", synchronous: 2, automaticCopy: 0)

    static func set(on connection: Connection) throws(SQLiteError) {
        // One call per pragma: a pragma that is set while a statement runs has no effect.
        _ = try connection.pragma("journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        _ = try connection.number("wal_autocheckpoint = 0")
        _ = try connection.number("journal_size_limit = \(WriteAheadLog.limit)")
        // SQLite overwrites deleted content in the file. README.md lists the exceptions.
        _ = try connection.number("secure_delete = ON")
        // SQLite calls no functions in a modified schema, and detects pages with wrong cell sizes.
        try connection.execute("PRAGMA trusted_schema = OFF")
        try connection.execute("PRAGMA cell_size_check = ON")
    }

    init(of connection: Connection) throws(SQLiteError) {
        journalMode = try connection.pragma("journal_mode")
        synchronous = try connection.number("synchronous")
        automaticCopy = try connection.number("wal_autocheckpoint")
    }

    private init(journalMode: String?, synchronous: Int?, automaticCopy: Int?) {
        self.journalMode = journalMode
        self.synchronous = synchronous
        self.automaticCopy = automaticCopy
    }
}
