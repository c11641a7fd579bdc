import Glibc
public import SigningKit

/// A moment for rates and quotas: by a clock that only goes forward, and by the one on the wall.
public struct LimitMoment: Sendable {
    /// In nanoseconds, since whenever.
    public let monotonic: Int64
    public let wall: Timestamp

    public init(monotonic: Int64, wall: Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
    public static func now() -> LimitMoment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return LimitMoment(
            monotonic: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec), wall: GrantIssuer.systemTime())
    }

    /// Days since the start of 1970 in UTC, and seconds of the day that have passed.
    var day: (number: Int64, seconds: Int64) {
        let secondsOfADay: Int64 = 86_400
        let number = wall.seconds / secondsOfADay - (wall.seconds % secondsOfADay < 0 ? 1 : 0)
        return (number, wall.seconds - number * secondsOfADay)
    }
}
