import CSQLite

/// The extended result code of an SQLite function (sqlite.org/rescode.html); its low byte is the primary code.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code, without its extension.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    public static let ok = ResultCode(rawValue: SQLITE_OK)
    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
    public static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    public static let protocolFailed = ResultCode(rawValue: SQLITE_PROTOCOL)
    public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// `SQLITE_READONLY_DBMOVED`, a macro that Swift does not import.
    public static let databaseMoved = ResultCode(rawValue: SQLITE_READONLY | 4 << 8)
    public static let row = ResultCode(rawValue: SQLITE_ROW)
    public static let done = ResultCode(rawValue: SQLITE_DONE)
}

extension ResultCode: CustomStringConvertible {
    /// The name in SQLite's header, such as `SQLITE_IOERR_FSYNC`, or the number of a code that is not in `names`.
    public var description: String {
        Self.names[rawValue] ?? Self.names[primary.rawValue].map { "\($0) (\(rawValue))" } ?? "SQLITE \(rawValue)"
    }
}
