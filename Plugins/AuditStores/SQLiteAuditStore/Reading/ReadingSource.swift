import AuditKit
import SQLite

/// A connection that reads, and whether it is still the right one.
struct ReadingSource {
    let tables: LogTables
    let identity: AuditIdentity
    private let path: String
    private let database: FileMark
    private let isImmutable: Bool

    /// How long to wait for a lock, in milliseconds: whoever recovers a log after a crash holds one for a moment.
    private static let patience = 5000
    /// In bytes: no entry, note or register comes near it.
    private static let longestValue = 4 << 20

    init(at path: String) throws(AuditStoreError) {
        guard let database = try FileMark(path) else { throw LogFiles.gone(path) }
        guard database.isRegular else { throw .unfit("\(path) is no file, and so no audit log.") }
        try LogFiles.refuseJournal(beside: path)
        self.path = path
        self.database = database
        isImmutable = try !Self.hasLog(path)
        let connection = try Self.connect(to: path, isImmutable)
        connection.wait(milliseconds: Self.patience)
        do throws(AuditStoreError) {
            try LogSchema.checkKind(of: connection, at: path)
            try LogSchema.checkTables(of: connection, at: path)
        } catch {
            throw try Self.explained(error, at: path, isImmutable)
        }
        identity = try LogSchema.identity(in: connection, at: path)
        tables = try LogTables(connection, at: path)
    }

    /// Whether there is a write-ahead log that belongs to what is to be read. Where there is none nobody writes, and the
    /// database can be read without leaving a file beside it.
    private static func hasLog(_ path: String) throws(AuditStoreError) -> Bool {
        let path = LogLocation.resolved(path)
        guard let log = try FileMark(path + "-wal") else { return false }
        if log.size > 0 { return true }
        return try FileMark(path + "-shm") != nil
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
        guard !isImmutable, try FileMark(LogLocation.resolved(path) + "-shm") == nil else { return error }
        switch error {
        case .failed, .readOnly, .missing:
            return .failed(
                "The audit log \(path) has a -wal file beside it, which can be read only where a -shm file can be made: "
                    + "copy both files to a directory that can be written to.")
        case .full, .busy, .replaced, .damaged, .unfit, .closed: return error
        }
    }

    /// No when the file is another one, or when a writer came to one that was read as if there were none.
    func isCurrent() throws(AuditStoreError) -> Bool {
        guard let now = try FileMark(path) else { throw LogFiles.gone(path) }
        guard now.isSameFile(as: database) else { return false }
        return isImmutable ? try !Self.hasLog(path) : true
    }
}
