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
    fileprivate var isAsking = false
    /// The shared limits after the last lease; nil before the first, and without a fleet.
    fileprivate(set) var standing: (rate: RateLimitStatus?, quota: RateLimitStatus?)?
    fileprivate var refusal: RateLimitRefusal?

    /// How long granted requests may be used, in nanoseconds.
    fileprivate static let validity: Int64 = 2_000_000_000
    /// The least time between two leases, in nanoseconds.
    fileprivate static let pause: Int64 = 20_000_000
}

extension ClientUsage {
    /// - Returns: nil without a fleet.
    func takeLeased(
        _ count: Int, giving back: Int, within limits: ClientLimits, at moment: RateLimitTime
    ) throws(RateLimitRefusal) -> RateLimitStatus? {
        try lease.withLock { lease throws(RateLimitRefusal) in
            guard let standing = lease.standing else { return nil }
            if lease.end < moment.monotonic { lease.granted = 0 }
            lease.granted += back
            let narrow = [standing.rate, standing.quota].compactMap(\.self).min { $0.remaining < $1.remaining }
            guard lease.granted >= count else {
                let status = narrow ?? RateLimitStatus(limit: 0, remaining: 0, resetsAfter: 1)
                let refusal = lease.refusal
                throw RateLimitRefusal(
                    kind: refusal?.kind ?? (standing.rate == nil ? .quota : .rate),
                    status: RateLimitStatus(
                        limit: status.limit, remaining: min(lease.granted, status.limit),
                        resetsAfter: status.resetsAfter),
                    retryAfter: refusal?.count == count ? refusal?.retryAfter : 1, count: count, client: limits.client)
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
    func lease(
        _ count: Int, within limits: ClientLimits, at moment: RateLimitTime, from shared: any SharedValues
    ) async {
        let order = lease.withLock { lease -> (wanted: Int, unused: Int)? in
            lease.demand += count
            let isValid = lease.end >= moment.monotonic
            if isValid, lease.granted >= count { return nil }
            let elapsed = lease.asked == .min ? Int64.max : moment.monotonic - lease.asked
            guard !lease.isAsking, elapsed >= RequestLease.pause else { return nil }
            // What a quarter of a second needs.
            let wanted = elapsed < RequestLease.validity ? Int(Int64(lease.demand) * 250_000_000 / elapsed) : 0
            let most = limits.rate.map { Int($0.perSecond / 4) } ?? Int.max
            let unused = isValid ? 0 : lease.granted
            (lease.isAsking, lease.asked, lease.demand) = (true, moment.monotonic, 0)
            if !isValid { lease.granted = 0 }
            return (max(count, min(wanted, most)), unused)
        }
        guard let order else { return }
        await ask(for: order.wanted, least: count, unused: order.unused, within: limits, from: shared)
    }

    /// Gives back what is no longer valid.
    func giveBack(within limits: ClientLimits, at moment: RateLimitTime, to shared: any SharedValues) async {
        let unused = lease.withLock { lease -> Int in
            guard lease.granted > 0, lease.end < moment.monotonic, !lease.isAsking else { return 0 }
            defer { lease.granted = 0 }
            lease.isAsking = true
            return lease.granted
        }
        guard unused > 0 else { return }
        await ask(for: 0, least: 0, unused: unused, within: limits, from: shared)
    }

    private func ask(
        for wanted: Int, least: Int, unused: Int, within limits: ClientLimits, from shared: any SharedValues
    ) async {
        let answer = Mutex<(granted: Int, standing: (RateLimitStatus?, RateLimitStatus?), refusal: RateLimitRefusal?)?>(nil)
        let isDone = await shared.update("usage/\(limits.client)") { bytes, time in
            var state = ClientUsageState(bytes)
            let moment = RateLimitTime(fleet: time)
            state.advance(within: limits, to: moment)
            state.take(-unused, within: limits)
            let standing = state.standing(within: limits, moment)
            let left = [standing.rate, standing.quota].compactMap { $0?.remaining }.min() ?? 0
            var refusal: RateLimitRefusal?
            do throws(RateLimitRefusal) { try state.refuse(least, over: limits, moment) } catch { refusal = error }
            let granted = refusal == nil ? min(wanted, left) : 0
            state.take(granted, within: limits)
            answer.withLock { $0 = (granted, state.standing(within: limits, moment), refusal) }
            return JSONText.encode(state)
        }
        let end = RateLimitTime.now().monotonic + RequestLease.validity
        lease.withLock { lease in
            lease.isAsking = false
            guard isDone, let answer = answer.withLock({ $0 }) else {
                lease.granted += unused
                return
            }
            lease.granted += answer.granted
            if answer.granted > 0 { lease.end = end }
            (lease.standing, lease.refusal) = (answer.standing, answer.refusal)
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
