/// A moment, in milliseconds since the start of 1970 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whole seconds, rounded down: an `iat` must not lie in the future (RFC 7519 §4.1.6, an integer).
    public var seconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
