import CSQLite

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
