import AuditKit
import SQLite
import SigningKit
import Synchronization

/// The connection that appends entries.
final class Writer {
    let identity: AuditIdentity
    let files: LogFiles
    let connection: Connection
    let log: WriteAheadLog
    let tables: LogTables
    /// Whether its state is unreliable, so that a new writer must replace it.
    private(set) var isUnreliable = false
    /// Whether a write succeeded, so the log appender has accepted this log as the right one.
    private(set) var isAccepted = false

    /// - Parameter earlier: the files of the writer that this one replaces.
    init(at path: String, timeout: Duration, replacing earlier: LogFiles? = nil) throws(AuditStoreError) {
        let (tables, version, opened) = try Self.connect(to: path, timeout: timeout, replacing: earlier)
        let connection = tables.connection
        let differences = try AuditStoreError.at(path) { () throws(SQLiteError) in
            if version != LogSchema.version { try LogSchema.upgrade(connection) }
            return try LogSchema.differences(in: connection)
        }
        identity = try tables.identity()
        if let first = differences.first { throw .damaged("The audit log \(path) has a changed schema. \(first)") }
        files = LogFiles(at: path, opened)
        log = WriteAheadLog(at: files.logPath, pageSize: max(512, try tables.number("PRAGMA page_size")))
        connection.countLogPages()
        (self.tables, self.connection) = (tables, connection)
    }

    /// - Returns: also the version of the schema.
    static func connect(
        to path: String, timeout: Duration, replacing earlier: LogFiles? = nil
    ) throws(AuditStoreError) -> (tables: LogTables, version: Int, files: LogFileSet) {
        guard let file = try FileIdentity(path) else { throw LogFiles.gone(path) }
        guard file.isRegular else { throw .unfit("\(path) is not a regular file, so it is not an audit log.") }
        guard file.isWritable else { throw LogFiles.readOnly(path) }
        try LogFiles.refuseJournal(beside: path)
        var version = 0
        let (tables, files) = try OpenLogs.shared.open(path) { files throws(AuditStoreError) in
            try earlier?.checkPair(in: files)
            let tables = try LogTables(opening: path, .readWrite)
            guard !tables.connection.isReadOnly else { throw LogFiles.readOnly(path) }
            // Do not checkpoint on close: after a restore, the -wal file may belong to another database.
            tables.connection.keepLogOnClose(true)
            tables.connection.wait(milliseconds: Int(timeout.milliseconds))
            version = try tables.checkKind()
            try Durability.require(of: tables)
            // A database that was not in WAL mode has its other files after the next read.
            _ = try tables.number("SELECT count(*) FROM sqlite_schema")
            return tables
        }
        try earlier?.checkPair(in: files)
        return (tables, version, files)
    }

    func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try tables.run("BEGIN IMMEDIATE")
        let transaction = SQLiteTransaction(tables)
        let outcome: Outcome
        let size: Int?
        let writtenBefore = connection.pagesWritten
        do throws(AuditStoreError) {
            defer { transaction.end() }
            outcome = try body(transaction)
            size = try log.size()
            try tables.run("COMMIT")
        } catch {
            connection.rollBack()
            if case .damaged = error { isUnreliable = true }
            if connection.isInTransaction { isUnreliable = true }
            throw error
        }
        log.didCommit(on: connection, written: connection.pagesWritten - writtenBefore, sizeBefore: size)
        // A commit into files that were moved or truncated meanwhile is not in the log at this path.
        try files.checkInPlace()
        try requireWhole()
        if !isAccepted { connection.keepLogOnClose(false) }
        isAccepted = true
        return outcome
    }

    /// Throws if another process truncated the write-ahead log.
    func requireWhole() throws(AuditStoreError) {
        guard log.isCutOff else { return }
        // The rest of a truncated write-ahead log, with its holes, must not reach the database.
        connection.keepLogOnClose(true)
        throw files.cutOff
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
        let verdict = try tables.pragma("quick_check(1)")
        let count = try tables.number("SELECT count(*) FROM entry")
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
enum Durability {
    /// In `synchronous`, 2 is FULL: every commit synchronizes the write-ahead log
    /// (sqlite.org/pragma.html#pragma_synchronous). SQLite runs no checkpoint within a commit.
    static let required = [("journal_mode", "wal"), ("synchronous", "2"), ("wal_autocheckpoint", "0")]

    private static let others = [
        ("journal_size_limit", "\(WriteAheadLog.limit)"),
        // SQLite overwrites deleted content in the file. README.md lists the exceptions.
        ("secure_delete", "ON"),
        // SQLite calls no functions in a modified schema, and detects pages with wrong cell sizes.
        ("trusted_schema", "OFF"), ("cell_size_check", "ON"),
    ]

    static func require(of tables: LogTables) throws(AuditStoreError) {
        // One call per pragma: a pragma that is set while a statement runs has no effect.
        for (name, value) in required + others { _ = try tables.pragma("\(name) = \(value)") }
        for (name, value) in required {
            let found = try tables.pragma(name) ?? "unknown"
            guard found == value else {
                throw .failed(
                    "The audit log \(tables.path) cannot be written durably: \(name) is \(found), not \(value).")
            }
        }
    }
}

/// The operations between `BEGIN` and `COMMIT`.
final class SQLiteTransaction: AuditTransaction {
    /// Nil after the end of the transaction, so that a caller that keeps this object cannot use it any more.
    private var open: LogTables?
    /// The index of the next entry; nil before the first entry.
    private var next: Int?

    init(_ tables: LogTables) {
        open = tables
    }

    func end() { open = nil }

    private func tables() throws(AuditStoreError) -> LogTables {
        guard let open else { throw .closed }
        return open
    }

    // MARK: Reading

    func head() throws(AuditStoreError) -> SignedTreeHead? { try tables().head() }

    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try tables().visit(range, visit)
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try tables().segmentRoots() }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try tables().registers() }

    // MARK: Writing

    func append(_ entry: StoredEntry) throws(AuditStoreError) {
        let tables = try tables()
        let next = if let next { next } else { try tables.end() }
        guard entry.index == next else {
            throw .failed("Entry \(entry.index) is out of order: the next entry of the audit log is \(next).")
        }
        try tables.store(
            "INSERT INTO entry VALUES (?, ?, ?)", .integer(entry.index), .integer(Int(truncatingIfNeeded: entry.mark)),
            .blob(entry.body))
        self.next = next + 1
    }

    func close(segment: Int, root: [UInt8]) throws(AuditStoreError) {
        try tables().store("INSERT INTO segment VALUES (?, ?)", .integer(segment), .blob(root))
    }

    func setHead(_ head: SignedTreeHead) throws(AuditStoreError) {
        try tables().store(
            """
            INSERT INTO head VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note
            """, .integer(head.size), .text(head.note))
    }

    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) {
        try tables().run(
            """
            INSERT INTO checkpoint VALUES (?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note
            WHERE length(excluded.note) >= length(note)
            """, .integer(checkpoint.size), .text(checkpoint.note))
    }

    func register(_ register: AuditRegister) throws(AuditStoreError) {
        try tables().store(
            """
            INSERT INTO register VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, entry = excluded.entry
            """, .text(register.name), .blob(register.value), .integer(register.entry))
    }

    func drop(segmentsBefore segment: Int) throws(AuditStoreError) {
        // The database's triggers ensure that only closed segments are dropped, and in order.
        try tables().run("UPDATE log SET first_segment = ?", .integer(segment))
        try tables().run(
            "DELETE FROM entry WHERE idx < (SELECT first_segment FROM log) * \(AuditSegment.size)")
    }
}

/// The state of the writer that maintenance needs, without waiting for the writer.
final class SharedWriterState: Sendable {
    private let state: Mutex<(files: LogFiles, log: WriteAheadLog)>

    init(_ writer: Writer) {
        state = Mutex((writer.files, writer.log))
    }

    func replace(with writer: Writer) {
        let state = (files: writer.files, log: writer.log)
        self.state.withLock { $0 = state }
    }

    var current: (files: LogFiles, log: WriteAheadLog) { state.withLock { $0 } }

    /// A connection for other work. Each use opens a new one, so that it is always on the writer's file.
    func connect(to path: String) throws(AuditStoreError) -> LogTables {
        let files = current.files
        try files.checkInPlace()
        let (tables, _, opened) = try Writer.connect(to: path, timeout: .zero)
        guard files.isSame(as: opened) else { throw .replaced("The files of the audit log \(path) were exchanged.") }
        return tables
    }
}

/// Holds the writer, and replaces it when the files change.
struct WriterHandle {
    private var writer: Writer?
    private let shared: SharedWriterState
    private let identity: AuditIdentity
    private let timeout: Duration
    /// The files of the last write.
    private var files: LogFiles
    private var isClosed = false

    init(writer: Writer, shared: SharedWriterState, timeout: Duration) {
        self.writer = writer
        self.shared = shared
        self.timeout = timeout
        identity = writer.identity
        files = writer.files
    }

    mutating func close() {
        isClosed = true
        writer = nil
    }

    /// The writer for the file that is at the path now.
    mutating func ready() throws(AuditStoreError) -> Writer {
        guard !isClosed else { throw .closed }
        if let writer, !writer.isUnreliable {
            switch try writer.files.change() {
            case .none:
                try writer.requireWhole()
                return writer
            case .readOnly(let path): throw LogFiles.readOnly(path)
            // The writer stays open, because the file may return.
            case .databaseGone: throw LogFiles.gone(files.path)
            case .companionReplaced: try writer.checkpointRemovedLog()
            case .databaseReplaced: break
            }
        }
        if let writer, writer.isAccepted { files = writer.files }
        // Release the old writer first, with every reference to it: SQLite shares the WAL index within the process.
        writer = nil
        return try reopen()
    }

    private mutating func reopen() throws(AuditStoreError) -> Writer {
        let opened: Writer
        do throws(AuditStoreError) {
            opened = try Writer(at: files.path, timeout: timeout, replacing: files)
            try opened.checkWhole()
        } catch {
            guard case .unfit(let sentence) = error else { throw error }
            throw .replaced(sentence)
        }
        guard opened.identity == identity else {
            throw .replaced(
                "\(files.path) is the audit log of \(opened.identity.origin), not of \(identity.origin).")
        }
        shared.replace(with: opened)
        writer = opened
        return opened
    }
}
