/// A time, in milliseconds since 1970-01-01 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
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
