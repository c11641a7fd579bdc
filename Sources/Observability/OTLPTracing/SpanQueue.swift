import Metrics
import Synchronization

/// A bounded queue of spans that wait for delivery, as JSON. A thread that ends a span waits only for a lock.
final class SpanQueue: Sendable {
    /// Signals that a batch is full or that the interval is over. Ends with `close`.
    let signal: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let limit: Int
    private let batchSize: Int
    private let dropped: Counter
    private let state = Mutex(State())

    private struct State {
        var spans: [[UInt8]] = []
        var isStopped = false
    }

    /// - Parameter limit: the largest number of waiting spans; further ones are dropped.
    init(limit: Int, batchSize: Int, dropped: Counter) {
        self.limit = max(1, limit)
        // A batch larger than the limit would never fill, so spans would be dropped until the interval is over.
        self.batchSize = min(max(1, batchSize), self.limit)
        self.dropped = dropped
        // One pending signal is enough.
        (signal, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a span that has ended. Returns at once, even if the span is dropped.
    @Sendable func take(_ span: SpanRecord) {
        let json = OTLPDocument.span(span)
        let count = state.withLock { state -> Int? in
            guard !state.isStopped, state.spans.count < limit else { return nil }
            state.spans.append(json)
            return state.spans.count
        }
        switch count {
        case nil: drop(1)
        case batchSize: ring()
        default: break
        }
    }

    func ring() { continuation.yield() }

    /// Ends the signals. The queue still accepts spans.
    func close() { continuation.finish() }

    /// The oldest spans; nil if none are waiting.
    func nextBatch() -> [[UInt8]]? {
        state.withLock { state in
            guard !state.spans.isEmpty else { return nil }
            defer { state.spans.removeFirst(min(batchSize, state.spans.count)) }
            return Array(state.spans.prefix(batchSize))
        }
    }

    /// Drops the waiting spans, and all later ones.
    func stop() {
        let rest = state.withLock { state in
            state.isStopped = true
            defer { state.spans = [] }
            return state.spans.count
        }
        drop(rest)
    }

    /// Counts spans that will not be delivered.
    func drop(_ count: Int) {
        if count > 0 { dropped.increment(by: Int64(count)) }
    }
}
