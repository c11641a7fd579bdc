import CSQLite

/// A prepared statement for repeated use. Parameters are numbered from 1, columns from 0.
public final class Statement {
    let handle: OpaquePointer
    /// Retained, because a statement must not outlive its connection.
    private let connection: Connection

    public init(_ sql: String, on connection: Connection) throws(SQLiteError) {
        var handle: OpaquePointer?
        try connection.check(
            sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
        guard let handle else { throw SQLiteError(.misuse, message: "the text contains no statement") }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// - Returns: whether there is a row to read.
    public func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let error = SQLiteError(code, on: connection.handle)
            sqlite3_reset(handle)
            throw error
        }
        return false
    }

    /// Steps once and resets, for statements that return no rows.
    public func run() throws(SQLiteError) {
        _ = try step()
        sqlite3_reset(handle)
    }

    /// Resets the statement but not its bindings. After a row, the transaction stays open until the reset.
    public func reset() {
        sqlite3_reset(handle)
    }

    // MARK: Parameters

    public func bind(_ number: Int, at position: Int32) throws(SQLiteError) {
        try connection.check(sqlite3_bind_int64(handle, position, Int64(number)))
    }

    /// Binds the signed number with the same bits.
    public func bind(bits number: UInt64, at position: Int32) throws(SQLiteError) {
        try connection.check(sqlite3_bind_int64(handle, position, Int64(bitPattern: number)))
    }

    public func bind(_ text: String, at position: Int32) throws(SQLiteError) {
        let code = text.withCString {
            sqlite3_bind_text(handle, position, $0, Int32(clamping: text.utf8.count), Self.copied)
        }
        try connection.check(code)
    }

    /// Binds NULL for nil.
    public func bind(_ text: String?, at position: Int32) throws(SQLiteError) {
        guard let text else { return try connection.check(sqlite3_bind_null(handle, position)) }
        try bind(text, at: position)
    }

    public func bind(_ bytes: [UInt8], at position: Int32) throws(SQLiteError) {
        try connection.check(bytes.withUnsafeBytes { bind($0, at: position, Self.copied) })
    }

    /// Binds the bytes without a copy, runs the statement, and then binds NULL.
    public func run(with bytes: [UInt8], at position: Int32) throws(SQLiteError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(SQLiteError) in
            try connection.check(bind(UnsafeRawBufferPointer(buffer), at: position, nil))
            defer { sqlite3_bind_null(handle, position) }
            try run()
        }
    }

    private func bind(
        _ bytes: UnsafeRawBufferPointer, at position: Int32, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        // A null address would mean NULL.
        bytes.isEmpty
            ? sqlite3_bind_zeroblob(handle, position, 0)
            : sqlite3_bind_blob64(handle, position, bytes.baseAddress, UInt64(bytes.count), destructor)
    }

    /// `SQLITE_TRANSIENT`, a cast in the header that Swift does not import: SQLite makes its own copy.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// The columns of the current row. A value is valid until the next step or reset.
extension Statement {
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    public func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    /// The unsigned number with the same bits.
    public func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: sqlite3_column_int64(handle, column)) }

    /// Empty for NULL.
    public func text(_ column: Int32) -> String {
        // Read the text first: the count is then that of the text.
        let start = sqlite3_column_text(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A copy; empty for NULL.
    public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Without a copy.
    public func withBytes<Value>(_ column: Int32, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        let start = sqlite3_column_blob(handle, column)
        return read(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
