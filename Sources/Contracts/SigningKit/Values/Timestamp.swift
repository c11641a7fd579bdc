import Encodings
import Glibc
import StrictJSON

/// A time, in milliseconds since 1970-01-01 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The time of `CLOCK_REALTIME`. A feature gets its time from the grant instead.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whole seconds, rounded down, because an `iat` must not lie in the future (RFC 7519 §4.1.6, an integer).
    public var seconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The time `seconds` later; the largest possible one on overflow.
    public func later(by seconds: Int64) -> Timestamp {
        let (added, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isTooLate) = milliseconds.addingReportingOverflow(added)
        return Timestamp(milliseconds: isTooLong || isTooLate ? Int64.max : sum)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

/// RFC 3339 §5.6 in UTC with exactly three decimals, such as `2026-11-21T13:27:00.123Z`; see `Encodings.RFC3339`.
extension Timestamp {
    /// RFC 3339 in UTC, with three decimals.
    public var text: String { String(decoding: rfc3339, as: UTF8.self) }

    /// 24 characters, as ASCII.
    public var rfc3339: [UInt8] { RFC3339.text(milliseconds: milliseconds) }

    /// Reads only the format that `rfc3339` writes.
    public init?(rfc3339 text: some Collection<UInt8>) {
        let milliseconds =
            text.withContiguousStorageIfAvailable(RFC3339.milliseconds(exactly:))
            ?? Array(text).withUnsafeBufferPointer(RFC3339.milliseconds(exactly:))
        guard let milliseconds else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = Timestamp(rfc3339: Array(text.utf8)) else {
            throw JSONReadError(.invalid("must be a time in UTC, such as 2026-11-21T12:00:00.000Z"))
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        try String(decoding: rfc3339, as: UTF8.self).encode(to: encoder)
    }
}
