import AuditKit
import SQLite
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

    init(at path: String, timeout: Duration) throws(AuditStoreError) {
        let tables = try Self.connect(to: path, timeout: timeout)
        let connection = tables.connection
        let version = try tables.checkKind()
        try Durability.require(of: tables)
        let differences = try AuditStoreError.at(path) { () throws(SQLiteError) in
            if version != LogSchema.version { try LogSchema.upgrade(connection) }
            return try LogSchema.differences(in: connection)
        }
        identity = try tables.identity()
        if let first = differences.first { throw .damaged("The audit log \(path) has a changed schema. \(first)") }
        files = try LogFiles(at: path, of: connection)
        log = WriteAheadLog(at: files.logPath, pageSize: max(512, try tables.number("PRAGMA page_size")))
        connection.countLogPages()
        (self.tables, self.connection) = (tables, connection)
    }

    static func connect(to path: String, timeout: Duration) throws(AuditStoreError) -> LogTables {
        guard let file = try FileIdentity(path) else { throw LogFiles.gone(path) }
        guard file.isRegular else { throw .unfit("\(path) is not a regular file, so it is not an audit log.") }
        guard file.isWritable else { throw LogFiles.readOnly(path) }
        try LogFiles.refuseJournal(beside: path)
        let tables = try LogTables(opening: path, .readWrite)
        guard !tables.connection.isReadOnly else { throw LogFiles.readOnly(path) }
        // Do not checkpoint on close: after a restore, the -wal file may belong to another database.
        tables.connection.keepLogOnClose(true)
        let (seconds, attoseconds) = timeout.components
        tables.connection.wait(milliseconds: Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        return tables
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
        if try change() == .logCutOff { throw files.cutOff }
        try files.checkInPlace()
        if !isAccepted { connection.keepLogOnClose(false) }
        isAccepted = true
        return outcome
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
struct Durability: Hashable, Sendable {
    let journalMode: String?
    /// 2 is FULL: every commit synchronizes the write-ahead log (sqlite.org/pragma.html#pragma_synchronous).
    let synchronous: String?
    /// 0: SQLite runs no checkpoint within a commit.
    let automaticCheckpoint: String?

    static let required = Durability(journalMode: "wal", synchronous: "2", automaticCheckpoint: "0")

    static func require(of tables: LogTables) throws(AuditStoreError) {
        // One call per pragma: a pragma that is set while a statement runs has no effect.
        for pragma in [
            "journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0",
            "journal_size_limit = \(WriteAheadLog.limit)",
            // SQLite overwrites deleted content in the file. README.md lists the exceptions.
            "secure_delete = ON",
            // SQLite calls no functions in a modified schema, and detects pages with wrong cell sizes.
            "trusted_schema = OFF", "cell_size_check = ON",
        ] {
            _ = try tables.pragma(pragma)
        }
        let durability = try Durability(of: tables)
        guard durability == .required else {
            throw .failed(
                "The audit log \(tables.path) cannot be written durably: journal_mode is "
                    + "\(durability.journalMode ?? "unknown"), synchronous \(durability.synchronous ?? "unknown").")
        }
    }
}

extension Durability {
    init(of tables: LogTables) throws(AuditStoreError) {
        journalMode = try tables.pragma("journal_mode")
        synchronous = try tables.pragma("synchronous")
        automaticCheckpoint = try tables.pragma("wal_autocheckpoint")
    }
}

/// The write-ahead log of the writer: its length after the last commit, and its checkpoints.
///
/// SQLite starts the log at its beginning again when a transaction begins while the log is completely checkpointed. Under
/// continuous writing, the maintenance thread never reaches the end, so the writer checkpoints the rest at `limit`.
final class WriteAheadLog: Sendable {
    /// Bytes after which the maintenance thread runs a checkpoint.
    static let step = 4 << 20
    /// Bytes after which the writer runs a checkpoint. The file then has at most about this size.
    static let limit = 32 << 20

    private let path: String
    private let pageSize: Int
    /// Pages in the log after the last commit.
    private let pages = Atomic(0)
    /// Pages that the maintenance thread has checkpointed.
    private let checkpointed = Atomic(0)
    /// The number of pages at which the writer runs its next checkpoint. A reader can hold the log for a while.
    private let next: Atomic<Int>
    private let cutOff = Atomic(false)

    init(at path: String, pageSize: Int) {
        self.path = path
        self.pageSize = pageSize
        next = Atomic(Self.limit / pageSize)
    }

    /// Whether another process truncated the log while it was in use: entries that were only there are lost.
    var isCutOff: Bool { cutOff.load(ordering: .relaxed) }

    /// The bytes of the file; nil if there is none, which `LogFiles` finds.
    func size() throws(AuditStoreError) -> Int? { try FileIdentity(path)?.size }

    /// The writer calls this after a commit.
    ///
    /// - Parameters:
    ///   - written: the number of pages that the transaction wrote.
    ///   - sizeBefore: the result of `size()` within the transaction, before its commit. No other process writes to the
    ///     log then, or truncates it with a checkpoint.
    func didCommit(on connection: Connection, written: Int, sizeBefore: Int?) {
        // SQLite reports no new length then.
        guard written > 0 else { return }
        let now = connection.logPages
        if now <= pages.exchange(now, ordering: .relaxed) {
            checkpointed.store(0, ordering: .relaxed)
            next.store(Self.limit / pageSize, ordering: .relaxed)
        }
        // The pages of earlier commits were in the file, unless another process has truncated it.
        if let sizeBefore, now > written, sizeBefore < length(of: now - written) {
            return cutOff.store(true, ordering: .relaxed)
        }
        guard now >= next.load(ordering: .relaxed) else { return }
        next.store(now + Self.step / pageSize, ordering: .relaxed)
        // The commit is durable even if the checkpoint fails. The next commit reports a fault of the disk.
        _ = try? connection.passiveCheckpoint()
    }

    /// The bytes of a log with so many pages: a header of 32 bytes, and a header of 24 bytes before each page
    /// (sqlite.org/fileformat2.html#walformat).
    private func length(of pages: Int) -> Int { 32 + pages * (24 + pageSize) }

    /// Whether the maintenance thread has something to checkpoint.
    func needsCheckpoint() throws(AuditStoreError) -> Bool {
        let rest = pages.load(ordering: .relaxed) - checkpointed.load(ordering: .relaxed)
        guard rest * pageSize >= Self.step, !isCutOff, let size = try size() else { return false }
        return size >= length(of: pages.load(ordering: .relaxed))
    }

    func checkpoint(on connection: Connection) throws(SQLiteError) {
        checkpointed.store(try connection.passiveCheckpoint(), ordering: .relaxed)
    }
}
