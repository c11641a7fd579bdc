public import SigningKit
import Synchronization

struct ClientLimits: Sendable {
    let client: String
    let rate: RateSettings?
    let dailyQuota: Int?

    var isUnlimited: Bool { rate == nil && dailyQuota == nil }
}

/// What a client has used of its limits. The limits come with each call, because clients of the old and the new
/// configuration share one usage while requests are in progress.
///
/// In a fleet, a gateway uses requests that it has leased, see `ClientUsage+Lease.swift`.
final class ClientUsage: Sendable {
    private let state = Mutex(ClientUsageState())
    let lease = Mutex(RequestLease())
    /// Held during a lease.
    let turn = AsyncMutex()

    /// Takes `count` requests from both limits, or nothing.
    ///
    /// - Parameter back: requests that were taken before, and that it returns first.
    /// - Returns: the limit with fewer remaining requests; nil for a client without limits.
    func take(
        _ count: Int, giving back: Int = 0, within limits: ClientLimits, at moment: RateLimitTime
    ) throws(RateLimitRefusal) -> RateLimitStatus? {
        if limits.isUnlimited { return nil }
        let count = max(0, count)
        return try state.withLock { state throws(RateLimitRefusal) in
            state.advance(within: limits, to: moment)
            state.take(-back, within: limits)
            try state.refuse(count, over: limits, moment)
            state.take(count, within: limits)
            let standing = state.standing(within: limits, moment)
            guard let rate = standing.rate, let quota = standing.quota else { return standing.rate ?? standing.quota }
            return quota.remaining < rate.remaining ? quota : rate
        }
    }

    func standing(
        within limits: ClientLimits, at moment: RateLimitTime
    ) -> (rate: RateLimitStatus?, quota: RateLimitStatus?) {
        if let leased = lease.withLock(\.standing) { return leased }
        return state.withLock { state in
            state.advance(within: limits, to: moment)
            return state.standing(within: limits, moment)
        }
    }
}

/// What is used of the limits of a client.
struct ClientUsageState: Codable {
    /// The requests that are missing from a full bucket.
    var missing = 0.0
    /// The monotonic time of `missing`, in nanoseconds.
    var monotonic = Int64.min
    /// The day of `usedToday`.
    var day = Int64.min
    var usedToday = 0
    /// The last other day, and what was used on it: a clock that was ahead comes back to it.
    var otherDay: Int64?
    var usedOnOtherDay: Int?

    mutating func advance(within limits: ClientLimits, to moment: RateLimitTime) {
        // Also after a step back of the clock. The use of one other day is known, so that a step forth and back changes nothing.
        if day != moment.day.number {
            let known = otherDay == moment.day.number ? usedOnOtherDay : nil
            (otherDay, usedOnOtherDay) = (day, usedToday)
            (day, usedToday) = (moment.day.number, known ?? 0)
        }
        guard let rate = limits.rate else { return }
        let elapsed = moment.monotonic.subtractingReportingOverflow(monotonic)
        monotonic = max(monotonic, moment.monotonic)
        // It overflows only at the first call, when nothing is missing.
        let regained = elapsed.overflow ? 0 : Double(max(0, elapsed.partialValue)) / 1e9 * max(0, rate.perSecond)
        // A new configuration may have a smaller burst.
        missing = min(max(0, missing - regained), Double(rate.burst))
    }

    /// - Parameter count: negative to give requests back.
    mutating func take(_ count: Int, within limits: ClientLimits) {
        // A new day may have begun since the requests were taken. A sum within the quota cannot overflow.
        if limits.rate != nil { missing = max(0, missing + Double(count)) }
        if limits.dailyQuota != nil { usedToday = max(0, usedToday + count) }
    }

    /// Checks the quota first, because it takes longer to reset.
    func refuse(_ count: Int, over limits: ClientLimits, _ moment: RateLimitTime) throws(RateLimitRefusal) {
        let standing = standing(within: limits, moment)
        if let quota = standing.quota, count > quota.remaining {
            throw RateLimitRefusal(
                kind: .quota, status: quota, retryAfter: count > quota.limit ? nil : quota.resetsAfter, count: count,
                client: limits.client)
        }
        if let status = standing.rate, let rate = limits.rate, count > status.remaining {
            let wait = seconds(until: Double(status.limit) - Double(count), rate)
            throw RateLimitRefusal(
                kind: .rate, status: status, retryAfter: count > status.limit ? nil : wait, count: count,
                client: limits.client)
        }
    }

    func standing(
        within limits: ClientLimits, _ moment: RateLimitTime
    ) -> (rate: RateLimitStatus?, quota: RateLimitStatus?) {
        let rate = limits.rate.map { rate in
            RateLimitStatus(
                limit: max(0, rate.burst), remaining: Int(clamping: Double(rate.burst) - missing + Self.roundingError),
                resetsAfter: seconds(until: 0, rate))
        }
        let quota = limits.dailyQuota.map { quota in
            RateLimitStatus(
                limit: max(0, quota), remaining: max(0, quota - usedToday),
                resetsAfter: Int(86_400 - moment.day.seconds))
        }
        return (rate, quota)
    }

    /// The seconds until no more than `level` requests are missing.
    private func seconds(until level: Double, _ rate: RateSettings) -> Int {
        guard rate.perSecond > 0 else { return Int(Int32.max) }
        return Int(clamping: ((missing - level - Self.roundingError) / rate.perSecond).rounded(.up))
    }

    /// In requests. Rounding must not make a caller wait a second longer than announced.
    private static let roundingError = 1e-6
}

extension Int {
    /// Rounds down, and clamps to 0 through `Int32.max`.
    fileprivate init(clamping value: Double) {
        self = value > 0 ? Int(Swift.min(value, Double(Int32.max))) : 0
    }
}

/// The state of a limit, for the fields `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`
/// (draft-ietf-httpapi-ratelimit-headers-07 §3).
public struct RateLimitStatus: Equatable, Sendable {
    /// In requests: the burst of a rate, or the whole quota.
    public let limit: Int
    /// Requests that would be admitted now.
    public let remaining: Int
    /// Seconds until the whole limit is available again, rounded up.
    public let resetsAfter: Int
}

public enum RateLimitKind: String, CaseIterable, Sendable {
    case rate, quota
}

/// A request or batch that exceeds a limit of the client. Nothing was taken.
public struct RateLimitRefusal: Error, Equatable, Sendable {
    public let kind: RateLimitKind
    /// The state of the exceeded limit.
    public let status: RateLimitStatus
    /// Seconds until the same call may be admitted, rounded up. Nil if it exceeds the whole limit.
    public let retryAfter: Int?
    /// The number of requests in the call.
    public let count: Int
    public let client: String
}

extension RateLimitRefusal: CustomStringConvertible {
    /// The text for the caller.
    public var description: String {
        guard let retryAfter else {
            return "\(count) requests at once exceed the \(name) of the client \(client), which is \(status.limit);"
                + " send at most \(status.limit) at once."
        }
        return "The client \(client) has \(status.remaining) of \(status.limit) requests left of its \(name),"
            + " and \(count) \(count == 1 ? "is" : "are") needed; try again in \(retryAfter) s."
    }

    private var name: String {
        switch kind {
        case .rate: "burst"
        case .quota: "daily quota"
        }
    }
}

/// The time for rates and quotas, by the monotonic clock and by the wall clock.
public struct RateLimitTime: Sendable {
    /// In nanoseconds since an arbitrary start.
    public let monotonic: Int64
    public let wall: Timestamp

    /// Reads `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
    public static func now() -> RateLimitTime {
        RateLimitTime(monotonic: Int64(MonotonicTime.nanoseconds()), wall: Timestamp.now())
    }

    /// The days since 1970-01-01 in UTC, and the seconds since the start of the day.
    var day: (number: Int64, seconds: Int64) {
        let secondsOfADay: Int64 = 86_400
        let number = wall.seconds / secondsOfADay - (wall.seconds % secondsOfADay < 0 ? 1 : 0)
        return (number, wall.seconds - number * secondsOfADay)
    }
}
