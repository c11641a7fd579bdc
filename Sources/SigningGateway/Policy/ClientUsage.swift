import Synchronization

/// What a client may use up.
struct ClientLimits: Sendable {
    let client: String
    let rate: RatePlan?
    let dailyQuota: Int?

    var isUnlimited: Bool { rate == nil && dailyQuota == nil }
}

/// What a client has used up. It knows no limits: they are given with each call, so that a client of a new configuration
/// goes on where that of the old one is, while requests in flight still hold on to the old one.
final class ClientUsage: Sendable {
    private let state = Mutex(State())

    /// Takes `count` requests of both limits, or nothing.
    ///
    /// - Parameter back: requests that were taken before, and are given back first.
    /// - Returns: how the limit stands that leaves less; nil for a client without limits.
    func take(
        _ count: Int, giving back: Int = 0, within limits: ClientLimits, at moment: LimitMoment
    ) throws(RateLimitRefusal) -> RateLimitStatus? {
        if limits.isUnlimited { return nil }
        let count = max(0, count)
        return try state.withLock { state throws(RateLimitRefusal) in
            state.advance(within: limits, to: moment)
            state.give(back, within: limits)
            try state.refuse(count, over: limits, moment)
            state.take(count, within: limits)
            let standing = state.standing(within: limits, moment)
            guard let rate = standing.rate, let quota = standing.quota else { return standing.rate ?? standing.quota }
            return quota.remaining < rate.remaining ? quota : rate
        }
    }

    func standing(
        within limits: ClientLimits, at moment: LimitMoment
    ) -> (rate: RateLimitStatus?, quota: RateLimitStatus?) {
        state.withLock { state in
            state.advance(within: limits, to: moment)
            return state.standing(within: limits, moment)
        }
    }
}

private struct State {
    /// What is missing from the bucket, in requests.
    var missing = 0.0
    /// When `missing` was right; nanoseconds.
    var monotonic = Int64.min
    /// The day that `usedToday` is of.
    var day = Int64.min
    var usedToday = 0

    mutating func advance(within limits: ClientLimits, to moment: LimitMoment) {
        // Also when the clock was set back: a quota begins anew too often rather than never again.
        if day != moment.day.number { (day, usedToday) = (moment.day.number, 0) }
        guard let rate = limits.rate else { return }
        let elapsed = moment.monotonic.subtractingReportingOverflow(monotonic)
        monotonic = max(monotonic, moment.monotonic)
        // It overflows only the first time, when nothing is missing yet.
        let regained = elapsed.overflow ? 0 : Double(max(0, elapsed.partialValue)) / 1e9 * max(0, rate.perSecond)
        // The burst may have shrunk since.
        missing = min(max(0, missing - regained), Double(rate.burst))
    }

    mutating func take(_ count: Int, within limits: ClientLimits) {
        if limits.rate != nil { missing += Double(count) }
        // Not over the quota, so not over what an Int holds.
        if limits.dailyQuota != nil { usedToday += count }
    }

    mutating func give(_ count: Int, within limits: ClientLimits) {
        if limits.rate != nil { missing = max(0, missing - Double(count)) }
        // The day may be another one by now.
        if limits.dailyQuota != nil { usedToday = max(0, usedToday - count) }
    }

    /// The quota first: it is the one that takes longer.
    func refuse(_ count: Int, over limits: ClientLimits, _ moment: LimitMoment) throws(RateLimitRefusal) {
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
        within limits: ClientLimits, _ moment: LimitMoment
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

    /// Until no more than `level` is missing.
    private func seconds(until level: Double, _ rate: RatePlan) -> Int {
        guard rate.perSecond > 0 else { return Int(Int32.max) }
        return Int(clamping: ((missing - level - Self.roundingError) / rate.perSecond).rounded(.up))
    }

    /// In requests: many small sums must not make a caller wait a second more than it was told.
    private static let roundingError = 1e-6
}

extension Int {
    /// Rounded down; from 0 to what 32 bits hold.
    fileprivate init(clamping value: Double) {
        self = value > 0 ? Int(Swift.min(value, Double(Int32.max))) : 0
    }
}
