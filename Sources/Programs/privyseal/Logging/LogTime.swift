import AuditLog
import SigningKit

/// RFC 3339 in UTC, with milliseconds. Also for a clock that shows a time before 1970.
enum LogTime {
    static func now() -> [UInt8] { ClockMonitor.systemTime().rfc3339 }
}
