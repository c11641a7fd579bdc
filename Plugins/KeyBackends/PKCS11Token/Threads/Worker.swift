import SigningKit
import Synchronization

/// A thread that runs jobs one after the other, at once or after a delay. Without a job it sleeps.
final class Worker: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        /// With the times at which they are due, in nanoseconds. Jobs with equal times run in order.
        var jobs: [(due: UInt64, job: Job)] = []
        var isEnding = false
        var onEnd: Job?
        /// Start of the current job, or its last `noteProgress`, in nanoseconds; 0 without a job.
        var begun: UInt64 = 0
    }

    private let state = Mutex(State())
    /// Wakes the thread. A signal without a new job costs the thread an empty round.
    private let signal = Semaphore()

    /// - Returns: false when the system has no thread left.
    func start(_ name: StaticString) -> Bool {
        // The thread keeps the worker alive until `end`.
        SystemThread.start(name) { [self] in
            while let job = next() { job() }
            state.withLock { $0.onEnd.take() }?()
        }
    }

    func run(after milliseconds: Int = 0, _ job: @escaping @Sendable () -> Void) {
        let due = MonotonicTime.nanoseconds() + UInt64(milliseconds) * 1_000_000
        state.withLock { if !$0.isEnding { $0.jobs.append((due, job)) } }
        signal.signal()
    }

    /// Restarts the time of the current job, which makes progress: its next call begins.
    func noteProgress() { state.withLock { if $0.begun != 0 { $0.begun = MonotonicTime.nanoseconds() } } }

    /// Nanoseconds since the start of the current job or its last `noteProgress`; nil without a job.
    var busyFor: UInt64? {
        state.withLock { state in
            if state.begun == 0 || state.isEnding { return nil }
            let now = MonotonicTime.nanoseconds()
            return now > state.begun ? now - state.begun : 0
        }
    }

    /// Ends the thread after the current job, and moves the other jobs to `successor`.
    func handOver(to successor: Worker) {
        let jobs = removeJobsAndEnd()
        successor.state.withLock { $0.jobs += jobs }
        successor.signal.signal()
    }

    /// Runs `body` when the thread ends. Without effect if it has ended already.
    func atEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = body } }

    /// Ends the thread after the current job, and drops the other jobs.
    func end() { _ = removeJobsAndEnd() }

    private func removeJobsAndEnd() -> [(due: UInt64, job: Job)] {
        let jobs = state.withLock { state in
            defer { (state.jobs, state.isEnding) = ([], true) }
            return state.jobs
        }
        signal.signal()
        return jobs
    }

    private func next() -> Job? {
        while true {
            let now = MonotonicTime.nanoseconds()
            var due: UInt64?
            var isEnding = false
            let job = state.withLock { state -> Job? in
                state.begun = 0
                isEnding = state.isEnding
                guard let first = state.jobs.indices.min(by: { state.jobs[$0].due < state.jobs[$1].due }) else {
                    return nil
                }
                due = state.jobs[first].due
                guard !isEnding, state.jobs[first].due <= now else { return nil }
                state.begun = now
                return state.jobs.remove(at: first).job
            }
            if let job { return job }
            if isEnding { return nil }
            if let due { signal.wait(atMost: .nanoseconds(Int64(clamping: due - now))) } else { signal.wait() }
        }
    }
}

extension Worker {
    /// Runs `body` on this thread while the caller waits for its result.
    ///
    /// - Parameters:
    ///   - milliseconds: after which the caller gets an error. The call into the token cannot be stopped and continues.
    ///   - watch: the thread that measures the time, because this one may hang.
    ///   - onAbandoned: receives the value of `body` if the caller no longer waits for it.
    func perform<Value: Sendable>(
        within milliseconds: Int, watchedBy watch: Worker,
        onAbandoned: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        // Also the result if this thread ends before it runs `body`.
        let late = KeyError.unavailable("The token did not answer within \(milliseconds / 1000) s.")
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            let answer = Once(continuation, orElse: .failure(late))
            run {
                let result = Result { () throws(KeyError) in try body() }
                guard !answer.give(result) else { return }
                if case .success(let value) = result { onAbandoned(value) }
            }
            watch.run(after: milliseconds) { _ = answer.give(.failure(late)) }
        }
        return try result.get()
    }

    /// Starts a thread and its watchdog thread, and runs `body` on the first one. After an error, both threads end.
    static func performOnNewThread<Value: Sendable>(
        _ name: StaticString, within milliseconds: Int, onAbandoned: @escaping @Sendable (Value) -> Void,
        _ body: @escaping @Sendable (_ worker: Worker, _ watch: Worker) throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        let (worker, watch) = (Worker(), Worker())
        do throws(KeyError) {
            guard worker.start(name), watch.start("privyseal-watch") else {
                throw .unavailable("The system has no thread left for a token.")
            }
            return try await worker.perform(within: milliseconds, watchedBy: watch, onAbandoned: onAbandoned) {
                () throws(KeyError) in try body(worker, watch)
            }
        } catch {
            worker.end()
            watch.end()
            throw error
        }
    }
}

/// A continuation that several threads may resume. Only the first one does.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>
    private let otherwise: Value

    /// - Parameter otherwise: resumes the continuation if no thread does: an ended worker drops its jobs.
    init(_ continuation: CheckedContinuation<Value, Never>, orElse otherwise: Value) {
        self.continuation = Mutex(continuation)
        self.otherwise = otherwise
    }

    deinit {
        _ = give(otherwise)
    }

    /// - Returns: whether this call was the first.
    func give(_ value: Value) -> Bool {
        guard let continuation = continuation.withLock({ $0.take() }) else { return false }
        continuation.resume(returning: value)
        return true
    }
}
