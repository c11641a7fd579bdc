internal import CSQLite
internal import Glibc

/// An SQLite function that did not do what it was asked to.
public struct SQLiteError: Error, Hashable, Sendable {
    public let code: ResultCode
    /// SQLite's own words. They name tables, columns and triggers; a value is always bound and never part of them.
    public let message: String
    /// `errno` of the call to the operating system that failed last; 0 when none did.
    public let systemError: Int32

    public init(_ code: ResultCode, message: String, systemError: Int32 = 0) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    /// What the connection says about its last failure.
    init(_ code: Int32, on handle: OpaquePointer?) {
        let text = handle.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        let systemError = handle.map(sqlite3_system_errno) ?? 0
        // A foreign file's names could hold control characters.
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
