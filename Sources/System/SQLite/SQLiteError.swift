import CSQLite
import Glibc

/// An error of an SQLite function.
public struct SQLiteError: Error, Hashable, Sendable {
    public let code: ResultCode
    /// SQLite's message. It names tables, columns and triggers, but no values, because values are always bound.
    public let message: String
    /// `errno` of the last failed system call; 0 if none failed.
    public let systemError: Int32

    init(_ code: Int32, on handle: OpaquePointer?) {
        self.code = ResultCode(rawValue: code)
        let text = handle.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        // Names in a foreign file may contain control characters.
        let scalars = text.map { String(cString: $0).unicodeScalars } ?? "".unicodeScalars
        message = String(scalars.filter { $0.value >= 0x20 && $0.value != 0x7f })
        let concernsSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_READONLY].contains(code & 0xff)
        systemError = concernsSystem ? handle.map(sqlite3_system_errno) ?? 0 : 0
    }
}

extension SQLiteError: CustomStringConvertible {
    public var description: String {
        systemError == 0
            ? "\(message) (\(code))" : "\(message): \(String(cString: strerror(systemError))) (\(code))"
    }
}

/// The extended result code of an SQLite function (sqlite.org/rescode.html); its low byte is the primary code.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code, without its extension.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    public static let protocolFailed = ResultCode(rawValue: SQLITE_PROTOCOL)
    public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// `SQLITE_READONLY_DBMOVED`, a macro that Swift does not import.
    public static let databaseMoved = ResultCode(rawValue: SQLITE_READONLY | 4 << 8)
}

extension ResultCode: CustomStringConvertible {
    /// The name in SQLite's header, such as `SQLITE_IOERR_FSYNC`, or the number of a code that is not in `names`.
    public var description: String {
        Self.names[rawValue] ?? Self.names[primary.rawValue].map { "\($0) (\(rawValue))" } ?? "SQLITE \(rawValue)"
    }

    /// By number: the primary codes, and the extended ones that a file or a disk can cause here. The extended codes are
    /// expressions in the header, which Swift does not import.
    private static let names: [Int32: String] = [
        0: "SQLITE_OK", 1: "SQLITE_ERROR", 2: "SQLITE_INTERNAL", 3: "SQLITE_PERM", 4: "SQLITE_ABORT",
        5: "SQLITE_BUSY", 6: "SQLITE_LOCKED", 7: "SQLITE_NOMEM", 8: "SQLITE_READONLY", 9: "SQLITE_INTERRUPT",
        10: "SQLITE_IOERR", 11: "SQLITE_CORRUPT", 12: "SQLITE_NOTFOUND", 13: "SQLITE_FULL", 14: "SQLITE_CANTOPEN",
        15: "SQLITE_PROTOCOL", 16: "SQLITE_EMPTY", 17: "SQLITE_SCHEMA", 18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT",
        20: "SQLITE_MISMATCH", 21: "SQLITE_MISUSE", 22: "SQLITE_NOLFS", 23: "SQLITE_AUTH", 24: "SQLITE_FORMAT",
        25: "SQLITE_RANGE", 26: "SQLITE_NOTADB", 27: "SQLITE_NOTICE", 28: "SQLITE_WARNING", 100: "SQLITE_ROW",
        101: "SQLITE_DONE", 266: "SQLITE_IOERR_READ", 522: "SQLITE_IOERR_SHORT_READ", 778: "SQLITE_IOERR_WRITE",
        1034: "SQLITE_IOERR_FSYNC", 1290: "SQLITE_IOERR_DIR_FSYNC", 1546: "SQLITE_IOERR_TRUNCATE",
        1802: "SQLITE_IOERR_FSTAT", 2570: "SQLITE_IOERR_DELETE", 3338: "SQLITE_IOERR_ACCESS",
        3850: "SQLITE_IOERR_LOCK", 4618: "SQLITE_IOERR_SHMOPEN", 4874: "SQLITE_IOERR_SHMSIZE",
        5130: "SQLITE_IOERR_SHMLOCK", 5386: "SQLITE_IOERR_SHMMAP", 8458: "SQLITE_IOERR_CORRUPTFS",
        520: "SQLITE_READONLY_CANTLOCK", 1032: "SQLITE_READONLY_DBMOVED", 1544: "SQLITE_READONLY_DIRECTORY",
        1294: "SQLITE_CANTOPEN_DIRTYWAL", 779: "SQLITE_CORRUPT_INDEX", 1811: "SQLITE_CONSTRAINT_TRIGGER",
        275: "SQLITE_CONSTRAINT_CHECK", 1299: "SQLITE_CONSTRAINT_NOTNULL", 1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
        2067: "SQLITE_CONSTRAINT_UNIQUE",
    ]
}
