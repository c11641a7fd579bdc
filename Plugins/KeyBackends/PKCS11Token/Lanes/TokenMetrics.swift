internal import Metrics
internal import PKCS11
internal import Synchronization

/// What a token's lanes tell swift-metrics. Each metric is made once for a pool: to raise one takes no lock.
final class TokenMetrics: Sendable {
    private let queue: Timer
    private let call: Timer
    private let reconnections: Counter
    private let count = Atomic<Int>(0)

    init(token: String, in factory: any MetricsFactory) {
        let dimensions = [("token", token)]
        queue = Timer(label: "privyseal_token_queue_seconds", dimensions: dimensions, factory: factory)
        call = Timer(label: "privyseal_token_call_seconds", dimensions: dimensions, factory: factory)
        reconnections = Counter(label: "privyseal_token_reconnects_total", dimensions: dimensions, factory: factory)
        // So that it is told before there is anything to tell.
        reconnections.increment(by: 0)
    }

    /// Since the pool was made.
    var reconnects: Int { count.load(ordering: .relaxed) }

    func noteReconnect() {
        count.add(1, ordering: .relaxed)
        reconnections.increment()
    }

    /// A job was begun. Times are in nanoseconds; a lane that looked at the clock a moment before the job came makes
    /// the wait 0.
    func noteWait(from submitted: UInt64, to begun: UInt64) {
        queue.recordNanoseconds(begun > submitted ? Int64(clamping: begun - submitted) : 0)
    }

    /// A call came back, with a signature or without.
    func noteCall(from begun: UInt64, to end: UInt64) {
        call.recordNanoseconds(end > begun ? Int64(clamping: end - begun) : 0)
    }
}

extension TokenInfo {
    /// For reports and labels: its label, or what else there is where it has none.
    var shortName: String { label.isEmpty ? serial : label }
}
