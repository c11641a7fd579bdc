import SigningKit
import StrictJSON
import Synchronization

/// The requests of a client that a gateway of a fleet may admit. They are taken from the limits that all gateways share,
/// so that the sum over the fleet stays within the limits. Those that are not used in a short time are given back.
struct RequestLease {
    fileprivate(set) var granted = 0
    /// The monotonic time after which the granted requests are given back, in nanoseconds.
    fileprivate var end = Int64.min
    /// When the last lease was asked for, by the monotonic clock, and the requests since then, refused ones included.
    fileprivate var asked = Int64.min
    fileprivate var demand = 0
    /// Whether the shared limits had less than was wanted.
    fileprivate var isExhausted = false
    /// The shared limits after the last lease; nil before the first, and without a fleet.
    fileprivate(set) var standing: (rate: RateLimitStatus?, quota: RateLimitStatus?)?
    fileprivate var refusal: RateLimitRefusal?

    /// How long granted requests may be used, in nanoseconds.
    fileprivate static let validity: Int64 = 2_000_000_000
    /// The least time until the next lease while the limits are exhausted, in nanoseconds.
    fileprivate static let pause: Int64 = 20_000_000
    fileprivate static let mostDemand = 1 << 30

    /// - Returns: the requests that may no longer be used.
    fileprivate mutating func takeExpired(at moment: RateLimitTime, everything: Bool = false) -> Int {
        guard everything || end < moment.monotonic else { return 0 }
        defer { granted = 0 }
        return granted
    }
}

extension ClientUsage {
    /// - Returns: nil without a fleet.
    func takeLeased(
        _ count: Int, giving back: Int, within limits: ClientLimits, at moment: RateLimitTime
    ) throws(RateLimitRefusal) -> RateLimitStatus? {
        try lease.withLock { lease throws(RateLimitRefusal) in
            guard let standing = lease.standing else { return nil }
            lease.granted += back
            let narrow = [standing.rate, standing.quota].compactMap(\.self).min { $0.remaining < $1.remaining }
            guard lease.granted >= count else {
                let known = lease.refusal
                let kind = known?.kind ?? (standing.rate == nil ? .quota : .rate)
                let status = (kind == .quota ? standing.quota : standing.rate) ?? narrow
                let limit = status?.limit ?? 0
                throw RateLimitRefusal(
                    kind: kind,
                    status: RateLimitStatus(
                        limit: limit, remaining: min(lease.granted, limit), resetsAfter: status?.resetsAfter ?? 1),
                    retryAfter: count > limit ? nil : known?.retryAfter ?? 1, count: count, client: limits.client)
            }
            lease.granted -= count
            return narrow.map {
                RateLimitStatus(
                    limit: $0.limit, remaining: min($0.limit, $0.remaining + lease.granted),
                    resetsAfter: $0.resetsAfter)
            }
        }
    }

    /// Leases requests if this gateway has too few for `count`. The amount follows the demand of the last moment.
    ///
    /// - Returns: false if the shared limits could not be read.
    func lease(
        _ count: Int, within limits: ClientLimits, from shared: any SharedValues, now: @Sendable () -> RateLimitTime
    ) async -> Bool {
        lease.withLock { $0.demand = min($0.demand + count, RequestLease.mostDemand) }
        guard !hasLeased(count, at: now()) else { return true }
        // Requests that come at the same time wait for one lease.
        return await turn.pass {
            let moment = now()
            guard !hasLeased(count, at: moment) else { return true }
            let order = lease.withLock { lease -> (wanted: Int, unused: Int)? in
                let elapsed = lease.asked == .min ? Int64.max : moment.monotonic - lease.asked
                guard !lease.isExhausted || elapsed >= RequestLease.pause else { return nil }
                // What a quarter of a second needs.
                let wanted =
                    (1..<RequestLease.validity).contains(elapsed)
                    ? Int(
                        clamping: Int64(lease.demand).multipliedReportingOverflow(by: 250_000_000).partialValue
                            / elapsed) : 0
                let most = limits.rate.map { Int($0.perSecond / 4) } ?? Int.max
                (lease.asked, lease.demand) = (moment.monotonic, 0)
                return (max(count, min(wanted, most)), lease.takeExpired(at: moment))
            }
            guard let order else { return true }
            return await ask(for: order.wanted, least: count, unused: order.unused, within: limits, from: shared, now: now)
        }
    }

    private func hasLeased(_ count: Int, at moment: RateLimitTime) -> Bool {
        lease.withLock { $0.end >= moment.monotonic && $0.granted >= count }
    }

    /// Gives back what is no longer valid, or everything.
    func giveBack(
        everything: Bool, within limits: ClientLimits, to shared: any SharedValues,
        now: @Sendable () -> RateLimitTime
    ) async {
        await turn.pass {
            let moment = now()
            let unused = lease.withLock { $0.takeExpired(at: moment, everything: everything) }
            guard unused > 0 else { return }
            _ = await ask(for: 0, least: 0, unused: unused, within: limits, from: shared, now: now)
        }
    }

    private func ask(
        for wanted: Int, least: Int, unused: Int, within limits: ClientLimits, from shared: any SharedValues,
        now: @Sendable () -> RateLimitTime
    ) async -> Bool {
        let answer = Mutex<(granted: Int, standing: (RateLimitStatus?, RateLimitStatus?), refusal: RateLimitRefusal?)?>(
            nil)
        let isDone = await shared.update("usage/\(limits.client)") { bytes, time in
            var state = ClientUsageState(bytes)
            let moment = RateLimitTime(fleet: time)
            // The quota of another day is not given back.
            let isSameDay = state.day == moment.day.number
            state.advance(within: limits, to: moment)
            if isSameDay { state.take(-unused, within: limits) }
            let standing = state.standing(within: limits, moment)
            let left = [standing.rate, standing.quota].compactMap { $0?.remaining }.min() ?? 0
            var refusal: RateLimitRefusal?
            do throws(RateLimitRefusal) { try state.refuse(least, over: limits, moment) } catch { refusal = error }
            let granted = refusal == nil ? min(wanted, left) : 0
            state.take(granted, within: limits)
            answer.withLock { $0 = (granted, state.standing(within: limits, moment), refusal) }
            return JSONText.encode(state)
        }
        let end = now().monotonic + RequestLease.validity
        return lease.withLock { lease in
            guard isDone, let answer = answer.withLock({ $0 }) else {
                lease.granted += unused
                return false
            }
            lease.granted += answer.granted
            if answer.granted > 0 { lease.end = end }
            lease.isExhausted = answer.granted < wanted
            (lease.standing, lease.refusal) = (answer.standing, answer.refusal)
            return true
        }
    }
}

extension RateLimitTime {
    /// - Parameter time: of the fleet's database, for both clocks: all gateways have it in common.
    init(fleet time: Timestamp) { self.init(monotonic: time.milliseconds * 1_000_000, wall: time) }
}

extension ClientUsageState {
    /// Nothing used, if there is no value, or one of another version.
    init(_ bytes: [UInt8]?) {
        let read = bytes.flatMap { try? JSONDocument(parsing: $0).root.decode(ClientUsageState.self) }
        self = read ?? ClientUsageState()
    }
}
