import CSQLite

/// A connection to one database, for one thread at a time: SQLite does not lock it (`SQLITE_OPEN_NOMUTEX`). It closes
/// when its last reference is released.
public final class Connection {
    public enum Access: Hashable, Sendable {
        /// An existing database.
        case readWrite
        /// A new database, if there is none yet.
        case create
        case readOnly
        /// A file without a writer: SQLite takes no lock and creates no file (sqlite.org/uri.html#uriimmutable).
        case immutable

        fileprivate var flags: Int32 {
            switch self {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readOnly: SQLITE_OPEN_READONLY
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        }
    }

    let handle: OpaquePointer
    /// By SQL text.
    private var prepared: [String: Statement] = [:]
    /// Pages in the write-ahead log after the last commit of this connection; see `countLogPages()`.
    public private(set) var logPages = 0
    /// Called after the connection has closed.
    public var onClose: (() -> Void)?

    /// - Parameter path: absolute, or `:memory:`.
    public init(path: String, access: Access) throws(SQLiteError) {
        var handle: OpaquePointer?
        let name = access == .immutable ? "file:\(Self.escaped(path))?immutable=1" : path
        let code = sqlite3_open_v2(name, &handle, access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(code, on: handle)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
    }

    deinit {
        prepared = [:]
        sqlite3_close_v2(handle)
        onClose?()
    }

    /// Sets how long to wait for a lock of another connection.
    public func wait(milliseconds: Int) { sqlite3_busy_timeout(handle, Int32(clamping: milliseconds)) }

    /// Refuses longer values: a malicious file can claim any length without having it.
    public func limitValues(to bytes: Int) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
    }

    /// Runs statements that return no rows, one after the other.
    public func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a transaction that may write, and rolls it back after an error.
    public func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try execute("COMMIT")
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a transaction that SQLite has not rolled back by itself, as it does after some errors.
    public func rollBack() {
        if isInTransaction { try? execute("ROLLBACK") }
    }

    /// Whether nothing can be written. SQLite opens a file read-only if it has no right to write it.
    public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

    /// The database file as SQLite opened it, with symbolic links resolved.
    public var path: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? "" }

    func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }

    /// Percent-encodes the path for a URI.
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let isPlain = byte > 0x20 && byte < 0x7f && !"%?#".utf8.contains(byte)
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}

/// Statements with parameters, each prepared at its first use. `read` and `visit` must not run the same text again.
extension Connection {
    /// Visits the rows of a query, until `visit` returns false.
    public func visit(
        _ sql: String, _ values: [BoundValue] = [], _ visit: (Row) -> Bool
    ) throws(SQLiteError) {
        if prepared[sql] == nil { prepared[sql] = try Statement(sql, on: self) }
        try prepared[sql]?.run(values, visit)
    }

    /// Runs a statement that returns no rows.
    public func run(_ sql: String, _ values: BoundValue...) throws(SQLiteError) { try visit(sql, values) { _ in true } }

    /// The rows that the last INSERT, UPDATE or DELETE changed, without those of triggers (`sqlite3_changes`).
    public var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Reads the first row of a query; nil without a row.
    public func first<Value>(
        _ sql: String, _ values: [BoundValue] = [], _ read: (Row) -> Value
    ) throws(SQLiteError) -> Value? {
        var value: Value?
        try visit(sql, values) {
            value = read($0)
            return false
        }
        return value
    }

    /// Reads all rows of a query.
    public func all<Value>(
        _ sql: String, _ values: [BoundValue] = [], _ read: (Row) -> Value
    ) throws(SQLiteError) -> [Value] {
        var rows: [Value] = []
        try visit(sql, values) {
            rows.append(read($0))
            return true
        }
        return rows
    }

    /// The first column of the pragma's first row, as text; nil without a row. SQLite runs some pragmas when it prepares
    /// them, so their statements are not kept.
    public func pragma(_ name: String) throws(SQLiteError) -> String? {
        var text: String?
        try Statement("PRAGMA \(name)", on: self).run([]) {
            text = $0.text(0)
            return false
        }
        return text
    }

    /// As `pragma(_:)`, for a number.
    public func number(_ name: String) throws(SQLiteError) -> Int? { try pragma(name).flatMap { Int($0) } }
}

extension Connection {
    /// Keeps `logPages` up to date. It replaces `wal_autocheckpoint`.
    public func countLogPages() {
        let count: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            context, _, _, pages in
            if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages) }
            return SQLITE_OK
        }
        // Not retained, because the hook ends with the connection.
        sqlite3_wal_hook(handle, count, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Pages that this connection has written (`SQLITE_DBSTATUS_CACHE_WRITE`).
    public var pagesWritten: Int {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return Int(current)
    }

    /// Runs as much of a checkpoint as possible without waiting for other connections (`SQLITE_CHECKPOINT_PASSIVE`).
    ///
    /// - Returns: the pages of the write-ahead log that are in the database now; 0 if another connection runs a
    ///   checkpoint.
    @discardableResult
    public func passiveCheckpoint() throws(SQLiteError) -> Int {
        var copied: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, &copied)
        if code & 0xff != SQLITE_BUSY { try check(code) }
        return max(0, Int(copied))
    }

    /// A full checkpoint that truncates the log (`SQLITE_CHECKPOINT_TRUNCATE`). Waits as set by `wait(milliseconds:)`.
    ///
    /// - Returns: false if another connection still uses the log.
    public func truncateLog() throws(SQLiteError) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        try check(code)
        return true
    }

    /// Whether the last close keeps the write-ahead log; otherwise it runs a checkpoint and removes the log.
    public func keepLogOnClose(_ keeps: Bool) { _ = privyseal_sqlite_keep_log_on_close(handle, keeps ? 1 : 0) }

    /// Whether the open file is no longer the one at its path.
    public var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }
}

/// A value to bind to a parameter (sqlite.org/datatype3.html).
public enum BoundValue: Sendable {
    case integer(Int)
    case text(String)
    case blob([UInt8])
    case null
}

/// A prepared statement. Its connection keeps it for the next use of the same SQL text.
final class Statement {
    private let handle: OpaquePointer
    private unowned let connection: Connection

    init(_ sql: String, on connection: Connection) throws(SQLiteError) {
        var handle: OpaquePointer?
        try connection.check(
            sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
        guard let handle else { throw SQLiteError(SQLITE_MISUSE, on: nil) }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds the values to the parameters and visits the rows, until `visit` returns false. Then it resets the
    /// statement: after a row, the transaction would stay open.
    func run(_ values: [BoundValue], _ visit: (Row) -> Bool) throws(SQLiteError) {
        for (offset, value) in values.enumerated() { try connection.check(bind(value, at: Int32(offset + 1))) }
        defer { sqlite3_reset(handle) }
        while true {
            let code = sqlite3_step(handle)
            guard code == SQLITE_ROW else {
                if code == SQLITE_DONE { return }
                throw SQLiteError(code, on: connection.handle)
            }
            if !visit(Row(handle: handle)) { return }
        }
    }

    private func bind(_ value: BoundValue, at position: Int32) -> Int32 {
        switch value {
        case .integer(let number): sqlite3_bind_int64(handle, position, Int64(number))
        case .null: sqlite3_bind_null(handle, position)
        case .text(let text):
            text.withCString {
                sqlite3_bind_text(handle, position, $0, Int32(clamping: text.utf8.count), Self.copied)
            }
        // A null address would mean NULL.
        case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, position, 0)
        case .blob(let bytes): sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), Self.copied)
        }
    }

    /// `SQLITE_TRANSIENT`, a cast in the header that Swift does not import: SQLite makes its own copy.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// The current row of a statement, valid during the visit. Columns are numbered from 0.
public struct Row {
    let handle: OpaquePointer

    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    public func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    /// Empty for NULL.
    public func text(_ column: Int32) -> String {
        // Read the text first: the count is then that of the text.
        let start = sqlite3_column_text(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes of all columns as text or as blobs.
    public var byteCount: Int {
        (0..<sqlite3_data_count(handle)).reduce(0) { $0 + Int(sqlite3_column_bytes(handle, $1)) }
    }

    /// A copy; empty for NULL.
    public func bytes(_ column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(handle, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
