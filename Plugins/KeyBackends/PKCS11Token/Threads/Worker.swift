internal import Glibc
internal import SigningKit
internal import Synchronization

/// A thread that runs jobs one after the other, at once or after a delay. Without a job it sleeps.
final class Worker: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var timers: [(due: UInt64, job: Job)] = []
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

    func run(_ job: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isEnding { $0.jobs.append(job) } }
        signal.signal()
    }

    func run(after milliseconds: Int, _ job: @escaping @Sendable () -> Void) {
        let due = Clock.nanoseconds() + UInt64(milliseconds) * 1_000_000
        state.withLock { if !$0.isEnding { $0.timers.append((due, job)) } }
        signal.signal()
    }

    /// Restarts the time of the current job, which makes progress: its next call begins.
    func noteProgress() {
        state.withLock { if $0.begun != 0 { $0.begun = Clock.nanoseconds() } }
    }

    /// Nanoseconds since the start of the current job or its last `noteProgress`; nil without a job.
    var busyFor: UInt64? {
        state.withLock { state in
            if state.begun == 0 || state.isEnding { return nil }
            let now = Clock.nanoseconds()
            return now > state.begun ? now - state.begun : 0
        }
    }

    /// Ends the thread after the current job, and moves the other jobs to `successor`.
    func handOver(to successor: Worker) {
        let (jobs, timers) = state.withLock { state in
            defer { (state.jobs, state.timers, state.isEnding) = ([], [], true) }
            return (state.jobs, state.timers)
        }
        signal.signal()
        successor.state.withLock { state in
            state.jobs += jobs
            state.timers += timers
        }
        successor.signal.signal()
    }

    /// Runs `body` when the thread ends. Without effect if it has ended already.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// Ends the thread after the current job, and drops the other jobs.
    func end() {
        state.withLock { ($0.jobs, $0.timers, $0.isEnding) = ([], [], true) }
        signal.signal()
    }

    private func next() -> Job? {
        while true {
            let (job, due) = state.withLock { state -> (Job?, UInt64?) in
                state.begun = 0
                if state.isEnding { return (nil, 0) }
                let first = state.timers.indices.min { state.timers[$0].due < state.timers[$1].due }
                let now = Clock.nanoseconds()
                let job: Job
                if !state.jobs.isEmpty {
                    job = state.jobs.removeFirst()
                } else if let first, state.timers[first].due <= now {
                    job = state.timers.remove(at: first).job
                } else {
                    return (nil, first.map { state.timers[$0].due } ?? .max)
                }
                state.begun = now
                return (job, nil)
            }
            switch due {
            case nil: return job
            case 0: return nil
            case .max?: signal.wait()
            case let due?:
                let now = Clock.nanoseconds()
                signal.wait(atMost: .nanoseconds(Int64(clamping: due > now ? due - now : 0)))
            }
        }
    }
}

extension Worker {
    /// Runs `body` on this thread while the caller waits for its result.
    ///
    /// - Parameters:
    ///   - milliseconds: after which the caller gets `late`. The call into the token cannot be stopped and continues.
    ///   - watch: the thread that measures the time, because this one may hang.
    ///   - onAbandoned: receives the value of `body` if the caller no longer waits for it.
    func perform<Value: Sendable>(
        within milliseconds: Int, watchedBy watch: Worker, late: KeyError,
        onAbandoned: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            let answer = Once(continuation)
            run {
                let result = Result { () throws(KeyError) in try body() }
                guard !answer.give(result) else { return }
                if case .success(let value) = result { onAbandoned(value) }
            }
            watch.run(after: milliseconds) { _ = answer.give(.failure(late)) }
        }
        return try result.get()
    }
}

/// A continuation that several threads may resume. Only the first one does.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Mutex(continuation)
    }

    /// - Returns: whether this call was the first.
    func give(_ value: Value) -> Bool {
        guard let continuation = continuation.withLock({ $0.take() }) else { return false }
        continuation.resume(returning: value)
        return true
    }
}

/// The monotonic clock, which cannot be set.
enum Clock {
    static func nanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
