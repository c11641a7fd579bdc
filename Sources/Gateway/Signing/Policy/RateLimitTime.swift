import AuditLog
import Glibc
public import SigningKit

/// The time for rates and quotas, by the monotonic clock and by the wall clock.
public struct RateLimitTime: Sendable {
    /// In nanoseconds since an arbitrary start.
    public let monotonic: Int64
    public let wall: Timestamp

    /// Reads `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
    public static func now() -> RateLimitTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return RateLimitTime(
            monotonic: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec), wall: ClockMonitor.systemTime())
    }

    /// The days since 1970-01-01 in UTC, and the seconds since the start of the day.
    var day: (number: Int64, seconds: Int64) {
        let secondsOfADay: Int64 = 86_400
        let number = wall.seconds / secondsOfADay - (wall.seconds % secondsOfADay < 0 ? 1 : 0)
        return (number, wall.seconds - number * secondsOfADay)
    }
}
