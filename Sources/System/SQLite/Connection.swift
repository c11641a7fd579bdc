import CSQLite

/// A connection to one database, for one thread at a time: SQLite does not lock it (`SQLITE_OPEN_NOMUTEX`). It closes
/// when its last reference is released. A statement retains its connection.
public final class Connection {
    public enum Access: Hashable, Sendable {
        /// An existing database.
        case readWrite
        /// A new database, if there is none yet.
        case create
        case readOnly
        /// A file without a writer: SQLite takes no lock and creates no file (sqlite.org/uri.html#uriimmutable).
        case immutable
    }

    let handle: OpaquePointer
    /// Pages in the write-ahead log after the last commit of this connection; see `countLogPages()`.
    public internal(set) var logPages = 0

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

    deinit { sqlite3_close_v2(handle) }

    /// Sets how long to wait for a lock of another connection.
    public func wait(milliseconds: Int) {
        sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
    }

    /// Refuses longer values: a malicious file can claim any length without having it.
    public func limitValues(to bytes: Int) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
    }

    /// Runs statements that return no rows, one after the other.
    public func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Whether nothing can be written. SQLite opens a file read-only if it has no right to write it.
    public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

    /// The database file as SQLite opened it, with symbolic links resolved.
    public var path: String {
        sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
    }

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

extension Connection.Access {
    fileprivate var flags: Int32 {
        switch self {
        case .readWrite: SQLITE_OPEN_READWRITE
        case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .readOnly: SQLITE_OPEN_READONLY
        case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
    }
}

extension Connection {
    /// The first column of the pragma's first row; nil without a row.
    public func pragma(_ name: String) throws(SQLiteError) -> String? {
        try first("PRAGMA \(name)") { $0.text(0) }
    }

    /// As `pragma(_:)`, for a number.
    public func number(_ name: String) throws(SQLiteError) -> Int? {
        try first("PRAGMA \(name)") { $0.integer(0) }
    }

    /// Reads the first row of a query; nil without a row.
    public func first<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> Value? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? read(statement) : nil
    }

    /// Reads all rows of a query.
    public func all<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> [Value] {
        let statement = try Statement(sql, on: self)
        var values: [Value] = []
        while try statement.step() { values.append(read(statement)) }
        return values
    }
}
