import SigningKit
import StrictJSON
import Synchronization

/// The requests of a client that a gateway of a fleet may admit. They are taken from the limits that all gateways share,
/// so that the sum over the fleet stays within the limits. Those that are not used in a short time are given back.
struct RequestLease {
    fileprivate var granted = 0
    /// The monotonic time after which the granted requests are given back, in nanoseconds.
    fileprivate var end = Int64.min
    /// When the last lease was asked for, by the monotonic clock, and the requests since then, refused ones included.
    fileprivate var asked = Int64.min
    fileprivate var demand = 0
    /// Whether the shared limits had less than was wanted.
    fileprivate var isExhausted = false
    /// The monotonic time before which the shared limits are not asked for again, because they could not be read.
    fileprivate var failedUntil = Int64.min
    /// The shared limits after the last lease; nil before the first, and without a fleet.
    fileprivate(set) var standing: (rate: RateLimitStatus?, quota: RateLimitStatus?)?
    fileprivate var refusal: RateLimitRefusal?

    /// How long granted requests may be used, in nanoseconds.
    fileprivate static let validity: Int64 = 2_000_000_000
    /// The least time until the next lease while the limits are exhausted, in nanoseconds.
    fileprivate static let pause: Int64 = 20_000_000
    /// The same after a failure.
    fileprivate static let failurePause: Int64 = 1_000_000_000
    fileprivate static let mostDemand = 1 << 30

    /// Takes requests, if enough of them are granted.
    fileprivate mutating func take(_ count: Int, at moment: RateLimitTime) -> Bool {
        guard end >= moment.monotonic, granted >= count else { return false }
        granted -= count
        return true
    }

    /// - Returns: the requests that may no longer be used.
    fileprivate mutating func takeExpired(at moment: RateLimitTime, everything: Bool = false) -> Int {
        guard everything || end < moment.monotonic else { return 0 }
        defer { granted = 0 }
        return granted
    }

    /// The requests to lease, or nil if it is too early for another lease.
    fileprivate mutating func order(
        _ count: Int, within limits: ClientLimits, at moment: RateLimitTime
    ) -> (wanted: Int, least: Int, unused: Int)? {
        let elapsed = asked == .min ? Int64.max : moment.monotonic - asked
        guard moment.monotonic >= failedUntil, !isExhausted || elapsed >= Self.pause else { return nil }
        // What a quarter of a second needs.
        let expected = (1..<Self.validity).contains(elapsed) ? Int(Int64(demand) * 250_000_000 / elapsed) : 0
        let most = limits.rate.map { Int(min($0.perSecond / 4, Double(Int32.max))) } ?? Int(Int32.max)
        (asked, demand) = (moment.monotonic, 0)
        let unused = takeExpired(at: moment)
        let missing = count - granted
        return (max(missing, min(expected, most)), missing, unused)
    }

    fileprivate func refusal(of count: Int, for client: String) -> RateLimitRefusal {
        let kind = refusal?.kind ?? (standing?.rate == nil ? .quota : .rate)
        let status = kind == .quota ? standing?.quota : standing?.rate
        let limit = status?.limit ?? 0
        return RateLimitRefusal(
            kind: kind,
            status: RateLimitStatus(
                limit: limit, remaining: min(granted, limit), resetsAfter: status?.resetsAfter ?? 1),
            retryAfter: count > limit ? nil : refusal?.retryAfter ?? 1, count: count, client: client)
    }

    /// The limit with fewer remaining requests.
    fileprivate var narrow: RateLimitStatus? {
        let narrow = [standing?.rate, standing?.quota].compactMap(\.self).min { $0.remaining < $1.remaining }
        return narrow.map {
            RateLimitStatus(
                limit: $0.limit, remaining: min($0.limit, $0.remaining + granted), resetsAfter: $0.resetsAfter)
        }
    }
}

/// Why a gateway of a fleet does not admit requests.
enum LeaseError: Error {
    case limited(RateLimitRefusal)
    /// The shared limits could not be read.
    case unavailable
}

extension ClientUsage {
    /// Takes `count` requests from the limits that the fleet shares, or nothing. The amount of a lease follows the demand
    /// of the last moment, so that few requests wait for the database.
    ///
    /// - Parameter back: requests that were taken before, and that it returns first.
    /// - Returns: the limit with fewer remaining requests.
    func takeShared(
        _ count: Int, giving back: Int, within limits: ClientLimits, from shared: any SharedValues,
        now: @Sendable () -> RateLimitTime
    ) async throws(LeaseError) -> RateLimitStatus? {
        let missing = max(0, count) - max(0, back)
        lease.withLock { $0.demand = min($0.demand + max(0, missing), RequestLease.mostDemand) }
        if missing <= 0 || lease.withLock({ $0.take(missing, at: now()) }) { return lease.withLock(\.narrow) }
        // Requests that come at the same time wait for one lease.
        return try await turn.pass { () async -> Result<RateLimitStatus?, LeaseError> in
            let moment = now()
            if lease.withLock({ $0.take(missing, at: moment) }) { return .success(lease.withLock(\.narrow)) }
            let order = lease.withLock { $0.order(missing, within: limits, at: moment) }
            var result = Asking(isTaken: false, isKnown: lease.withLock { moment.monotonic >= $0.failedUntil })
            if let order { result = await ask(order, taking: missing, within: limits, from: shared, now: now) }
            return lease.withLock { lease in
                if result.isTaken { return .success(lease.narrow) }
                // A refusal returns what was taken before.
                lease.granted += max(0, back)
                return .failure(result.isKnown ? .limited(lease.refusal(of: count, for: limits.client)) : .unavailable)
            }
        }.get()
    }

    /// The result of a lease: whether the requests were taken from it, and whether the shared limits could be read.
    private struct Asking {
        var isTaken: Bool
        var isKnown: Bool
    }

    /// Gives back what is no longer valid, or everything.
    func giveBack(
        everything: Bool, within limits: ClientLimits, to shared: any SharedValues,
        now: @Sendable () -> RateLimitTime
    ) async {
        await turn.pass {
            let moment = now()
            let unused = lease.withLock { lease in
                moment.monotonic < lease.failedUntil ? 0 : lease.takeExpired(at: moment, everything: everything)
            }
            guard unused > 0 else { return }
            _ = await ask((wanted: 0, least: 0, unused: unused), taking: nil, within: limits, from: shared, now: now)
        }
    }

    /// - Parameter count: the requests to take at once, before other requests can; nil for none.
    private func ask(
        _ order: (wanted: Int, least: Int, unused: Int), taking count: Int?, within limits: ClientLimits,
        from shared: any SharedValues, now: @Sendable () -> RateLimitTime
    ) async -> Asking {
        let answer = await shared.change("usage/\(limits.client)") { (known: ClientUsageState?, time) in
            var state = ClientUsageState(ifPossible: known)
            let moment = RateLimitTime(fleet: time)
            // After a step back of the database's clock, the rate goes on from there.
            state.monotonic = min(state.monotonic, moment.monotonic)
            // The quota of another day is not given back.
            let isSameDay = state.day == moment.day.number
            state.advance(within: limits, to: moment)
            if isSameDay { state.take(-order.unused, within: limits) }
            let standing = state.standing(within: limits, moment)
            let left = [standing.rate, standing.quota].compactMap { $0?.remaining }.min() ?? 0
            var refusal: RateLimitRefusal?
            do throws(RateLimitRefusal) { try state.refuse(order.least, over: limits, moment) } catch {
                refusal = error
            }
            let granted = refusal == nil ? min(order.wanted, left) : 0
            state.take(granted, within: limits)
            return (state, (granted: granted, standing: state.standing(within: limits, moment), refusal: refusal))
        }
        let moment = now()
        return lease.withLock { lease in
            guard let answer else {
                lease.granted += order.unused
                lease.failedUntil = moment.monotonic + RequestLease.failurePause
                return Asking(isTaken: false, isKnown: false)
            }
            lease.granted += answer.granted
            if answer.granted > 0 { lease.end = moment.monotonic + RequestLease.validity }
            lease.isExhausted = answer.granted < order.wanted
            (lease.standing, lease.refusal) = (answer.standing, answer.refusal)
            return Asking(isTaken: count.map { lease.take($0, at: moment) } ?? false, isKnown: true)
        }
    }
}

extension RateLimitTime {
    /// - Parameter time: of the fleet's database, for both clocks: all gateways have it in common.
    init(fleet time: Timestamp) {
        let (nanoseconds, isTooLong) = time.milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(monotonic: isTooLong ? Int64.max : nanoseconds, wall: time)
    }
}

extension ClientUsageState {
    /// Nothing used, if there is no value or an impossible one.
    init(ifPossible known: ClientUsageState?) {
        let possible = 0...Int(Int32.max)
        guard let known, possible.contains(known.usedToday), possible.contains(known.usedOnOtherDay ?? 0),
            (0...1e12).contains(known.missing)
        else {
            self.init()
            return
        }
        self = known
    }
}
