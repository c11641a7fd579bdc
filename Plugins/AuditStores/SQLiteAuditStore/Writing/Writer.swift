import AuditKit
import SQLite

/// The connection that appends.
final class Writer {
    let identity: AuditIdentity
    let files: LogFiles
    let connection: Connection
    let copying: LogCopying
    private let tables: LogTables
    private let statements: WritingStatements
    /// Nothing that it says can be relied on any more: another one has to take its place.
    private(set) var isSpoiled = false
    private var reserve: LogReserve
    /// Whether something was written, by an engine that found it to be the right log.
    private(set) var isAccepted = false

    init(at path: String, patience: Duration) throws(AuditStoreError) {
        let connection = try Self.connect(to: path, patience: patience)
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
        if let first = differences.first { throw .damaged("The audit log \(path) is not as it was made. \(first)") }
        tables = try LogTables(connection, at: path)
        statements = try AuditStoreError.at(path) { () throws(SQLiteError) in try WritingStatements(on: connection) }
        files = try LogFiles(at: path, of: connection)
        reserve = LogReserve(files.logPath)
        let pageSize = try AuditStoreError.at(path) { () throws(SQLiteError) in try connection.number("page_size") }
        copying = LogCopying(pageSize: pageSize ?? LogSchema.pageSize)
        connection.countLogPages()
    }

    static func connect(to path: String, patience: Duration) throws(AuditStoreError) -> Connection {
        guard let file = try FileMark(path) else { throw LogFiles.gone(path) }
        guard file.isRegular else { throw .unfit("\(path) is no file, and so no audit log.") }
        guard file.isWritable else { throw LogFiles.readOnly(path) }
        try LogFiles.refuseJournal(beside: path)
        let connection = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try Connection(path: path, access: .readWrite)
        }
        guard !connection.isReadOnly else { throw LogFiles.readOnly(path) }
        // Beside a database that was put back may lie the log of another: who only looked must not mix them.
        connection.keepLogOnClose(true)
        let (seconds, attoseconds) = patience.components
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
        reserve.provide(for: connection.logPages * copying.pageSize)
        let transaction = SQLiteTransaction(tables, statements)
        let outcome: Outcome
        do throws(AuditStoreError) {
            defer { transaction.end() }
            outcome = try body(transaction)
            try run(statements.commit)
        } catch {
            rollBack(after: error)
            throw error
        }
        // What went into files that are somewhere else by now is not where it will be looked for.
        seeLog()
        try files.checkInPlace()
        copying.didCommit(on: connection)
        if !isAccepted { connection.keepLogOnClose(false) }
        isAccepted = true
        return outcome
    }

    private func run(_ statement: Statement) throws(AuditStoreError) {
        try AuditStoreError.at(files.path) { () throws(SQLiteError) in try statement.run() }
    }

    private func rollBack(after error: AuditStoreError) {
        // SQLite has rolled back by itself after some errors.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        if case .damaged = error { isSpoiled = true }
        if connection.isInTransaction { isSpoiled = true }
    }

    /// What happened to the files since they were opened.
    func change() throws(AuditStoreError) -> LogFiles.Change {
        seeLog()
        return try files.change()
    }

    private func seeLog() {
        files.extent.look { connection.logIndex }
        // What is left of it, and the holes, must not get into the database.
        if files.extent.isCutOff { connection.keepLogOnClose(true) }
    }

    /// Brings what is in a write-ahead log that was removed under us into the database, before the log is let go. All of
    /// it, and so that the log's index says so: SQLite shares the index between the connections of a process, and the next
    /// writer would go on in the middle of a file that is new.
    func rescueLog() throws(AuditStoreError) {
        let isEmpty = try AuditStoreError.at(files.path) { () throws(SQLiteError) in try connection.emptyLog() }
        // Somebody reads from it still: the next write tries again.
        if !isEmpty { try files.checkInPlace() }
    }

    /// After files were put back from somewhere: a database beside a write-ahead log that is not its own looks whole where
    /// one looks first, and lacks pages elsewhere.
    func checkWhole() throws(AuditStoreError) {
        let verdict = try AuditStoreError.at(files.path) { () throws(SQLiteError) in
            try connection.pragma("quick_check(1)")
        }
        let count = try tables.first("SELECT count(*) FROM entry") { $0.integer(0) } ?? 0
        let head = try tables.head()
        let first = try tables.firstIndex()
        guard verdict == "ok", count == (head?.size ?? 0) - first else {
            throw .replaced(
                "The audit log \(files.path) was put back, and its -wal file does not belong to it or entries are missing: "
                    + "put back both files of one moment.")
        }
    }
}
