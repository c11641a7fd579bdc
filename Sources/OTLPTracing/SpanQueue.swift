import Metrics
import Synchronization

/// Spans that wait to be delivered: bounded, and never in the way. Who ends a span waits for a lock and nothing else.
final class SpanQueue: SpanSink {
    /// Something to do: a batch is full, or time is up. Ends with `close`.
    let bell: AsyncStream<Void>
    private let rope: AsyncStream<Void>.Continuation
    private let limit: Int
    private let batchSize: Int
    private let dropped: Counter
    private let state = Mutex(State())

    private struct State {
        var spans: [FinishedSpan] = []
        var isStopped = false
    }

    /// - Parameter limit: spans; those that come when so many wait are dropped.
    init(limit: Int, batchSize: Int, dropped: Counter) {
        self.limit = max(1, limit)
        // A batch that never fills would wait for the clock while spans are dropped.
        self.batchSize = min(max(1, batchSize), self.limit)
        self.dropped = dropped
        // One ring that nobody has heard yet stands for all.
        (bell, rope) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func take(_ span: FinishedSpan) {
        let count = state.withLock { state -> Int? in
            guard !state.isStopped, state.spans.count < limit else { return nil }
            state.spans.append(span)
            return state.spans.count
        }
        switch count {
        case nil: drop(1)
        case batchSize: ring()
        default: break
        }
    }

    func ring() { rope.yield() }

    /// No more rings; spans are taken still.
    func close() { rope.finish() }

    /// The oldest spans, or nil when none wait.
    func nextBatch() -> [FinishedSpan]? {
        state.withLock { state in
            guard !state.spans.isEmpty else { return nil }
            defer { state.spans.removeFirst(min(batchSize, state.spans.count)) }
            return Array(state.spans.prefix(batchSize))
        }
    }

    /// Nothing is taken from here on, and what waits is dropped.
    func stop() {
        let rest = state.withLock { state in
            state.isStopped = true
            defer { state.spans = [] }
            return state.spans.count
        }
        drop(rest)
    }

    /// Counts spans that nobody will see.
    func drop(_ count: Int) {
        if count > 0 { dropped.increment(by: Int64(count)) }
    }
}
