internal import Metrics
internal import PKCS11
internal import Synchronization

/// The metrics of a token's signing workers. Each metric is created once per pool, so that an update takes no lock.
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
        // Exports the counter before the first reconnection.
        reconnections.increment(by: 0)
    }

    /// Since the pool was created.
    var reconnects: Int { count.load(ordering: .relaxed) }

    func noteReconnect() {
        count.add(1, ordering: .relaxed)
        reconnections.increment()
    }

    /// Times are in nanoseconds. The queue time is 0 if the worker read the clock before the job came.
    func noteWait(from submitted: UInt64, to begun: UInt64) {
        queue.recordNanoseconds(begun > submitted ? Int64(clamping: begun - submitted) : 0)
    }

    /// Records the duration of a call, with or without a signature.
    func noteCall(from begun: UInt64, to end: UInt64) {
        call.recordNanoseconds(end > begun ? Int64(clamping: end - begun) : 0)
    }
}

extension TokenInfo {
    /// For reports and metrics: the label, or the serial number if the label is empty.
    var shortName: String { label.isEmpty ? serial : label }
}
