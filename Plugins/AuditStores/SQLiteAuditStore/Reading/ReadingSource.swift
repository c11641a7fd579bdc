import AuditKit
import SQLite

/// A read connection, and the check whether it still has the current file.
struct ReadingSource {
    let tables: LogTables
    let identity: AuditIdentity
    private let path: String
    private let database: FileIdentity
    private let isImmutable: Bool

    /// Milliseconds to wait for a lock, which a process holds for a moment while it recovers a log after a crash.
    private static let timeout = 5000
    /// In bytes: every entry, note and register is far shorter.
    private static let longestValue = 4 << 20

    init(at path: String) throws(AuditStoreError) {
        guard let database = try FileIdentity(path) else { throw LogFiles.gone(path) }
        guard database.isRegular else { throw .unfit("\(path) is not a regular file, so it is not an audit log.") }
        try LogFiles.refuseJournal(beside: path)
        self.path = path
        self.database = database
        isImmutable = try !Self.hasLog(path)
        let connection = try Self.connect(to: path, isImmutable)
        connection.wait(milliseconds: Self.timeout)
        do throws(AuditStoreError) {
            try LogSchema.checkKind(of: connection, at: path)
            try LogSchema.checkTables(of: connection, at: path)
        } catch {
            throw try Self.explained(error, at: path, isImmutable)
        }
        identity = try LogSchema.identity(in: connection, at: path)
        tables = try LogTables(connection, at: path)
    }

    /// Whether there is a write-ahead log. If not, nothing writes, and a read needs no files beside the database.
    private static func hasLog(_ path: String) throws(AuditStoreError) -> Bool {
        let path = LogLocation.resolved(path)
        guard let log = try FileIdentity(path + "-wal") else { return false }
        if log.size > 0 { return true }
        return try FileIdentity(path + "-shm") != nil
    }

    private static func connect(to path: String, _ isImmutable: Bool) throws(AuditStoreError) -> Connection {
        try AuditStoreError.at(path) { () throws(SQLiteError) in
            let connection = try Connection(path: path, access: isImmutable ? .immutable : .readOnly)
            connection.limitValues(to: longestValue)
            try connection.execute("PRAGMA trusted_schema = OFF")
            try connection.execute("PRAGMA cell_size_check = ON")
            return connection
        }
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
        case .full, .busy, .replaced, .damaged, .unfit, .closed: return error
        }
    }

    /// False if another file is at the path, or if a database that was read as immutable has a writer now.
    func isCurrent() throws(AuditStoreError) -> Bool {
        guard let now = try FileIdentity(path) else { throw LogFiles.gone(path) }
        guard now.isSameFile(as: database) else { return false }
        return isImmutable ? try !Self.hasLog(path) : true
    }
}
