import AuditKit
import Glibc
import SQLite

extension AuditStoreError {
    init(_ error: SQLiteError, at path: String) {
        switch error.code.primary {
        case .full: self = .full("No space is left for the audit log \(path): \(error).")
        case .readOnly where error.code == .databaseMoved:
            self = .replaced("The audit log \(path) is no longer the file that was opened: \(error).")
        case .readOnly: self = .readOnly("The audit log \(path) cannot be written: \(error).")
        case .busy, .locked, .protocolFailed:
            self = .busy("Another process has locked the audit log \(path): \(error).")
        // The statements are correct, so the tables must be wrong.
        case .error: self = .damaged("The audit log \(path) has a changed schema: \(error).")
        // No written value comes near the length limit of readers.
        case .corrupt, .notADatabase, .tooBig: self = .damaged("The audit log \(path) is damaged: \(error).")
        default:
            self =
                switch error.systemError {
                case ENOSPC, EDQUOT: .full("No space is left for the audit log \(path): \(error).")
                case EROFS: .readOnly("The audit log \(path) is on a read-only file system: \(error).")
                default: .failed("The audit log \(path) could not be used: \(error).")
                }
        }
    }

    /// Runs `body` and maps its errors.
    static func at<Value>(
        _ path: String, _ body: () throws(SQLiteError) -> Value
    ) throws(AuditStoreError) -> Value {
        do {
            return try body()
        } catch {
            throw AuditStoreError(error, at: path)
        }
    }
}
