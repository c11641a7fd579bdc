import CSQLite
import Glibc

/// An error of an SQLite function.
public struct SQLiteError: Error, Hashable, Sendable {
    public let code: ResultCode
    /// SQLite's message. It names tables, columns and triggers, but no values, because values are always bound.
    public let message: String
    /// `errno` of the last failed system call; 0 if none failed.
    public let systemError: Int32

    public init(_ code: ResultCode, message: String, systemError: Int32 = 0) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    init(_ code: Int32, on handle: OpaquePointer?) {
        let text = handle.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        let systemError = handle.map(sqlite3_system_errno) ?? 0
        // Names in a foreign file may contain control characters.
        let scalars = text.map { String(cString: $0).unicodeScalars } ?? "".unicodeScalars
        self.init(
            ResultCode(rawValue: code), message: String(scalars.filter { $0.value >= 0x20 && $0.value != 0x7f }),
            systemError: ResultCode(rawValue: code).primary.concernsSystem ? systemError : 0)
    }
}

extension SQLiteError: CustomStringConvertible {
    public var description: String {
        systemError == 0
            ? "\(message) (\(code))" : "\(message): \(String(cString: strerror(systemError))) (\(code))"
    }
}

extension ResultCode {
    fileprivate var concernsSystem: Bool { [.inputOutput, .cannotOpen, .full, .readOnly].contains(self) }
}
