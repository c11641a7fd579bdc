import Synchronization

/// Counts the answers of the last minute.
public final class RequestTotals: Sendable {
    /// Requests per second over the last minute.
    public struct Rates: Sendable {
        /// Status below 400.
        public var answered = 0.0
        /// 4xx.
        public var refused = 0.0
        /// 5xx.
        public var failed = 0.0
    }

    private struct Second {
        var number: Int64 = -1
        var answered = 0
        var refused = 0
        var failed = 0
    }

    private static let window = 60
    private let seconds = Mutex([Second](repeating: Second(), count: window))
    private let start = ContinuousClock.now

    public init() {}

    func note(_ status: Int) {
        let now = number
        seconds.withLock { seconds in
            let index = Int(now) % Self.window
            if seconds[index].number != now { seconds[index] = Second(number: now) }
            switch status {
            case ..<400: seconds[index].answered += 1
            case ..<500: seconds[index].refused += 1
            default: seconds[index].failed += 1
            }
        }
    }

    public var rates: Rates {
        let now = number
        let span = Double(max(1, min(now, Int64(Self.window))))
        return seconds.withLock { seconds in
            var rates = Rates()
            for second in seconds where second.number > now - Int64(Self.window) && second.number >= 0 {
                rates.answered += Double(second.answered) / span
                rates.refused += Double(second.refused) / span
                rates.failed += Double(second.failed) / span
            }
            return rates
        }
    }

    private var number: Int64 { (ContinuousClock.now - start).components.seconds }
}
