import Crypto
import DequeModule
import Metrics
import PKCS11
import SigningKit
import Synchronization

/// The signing workers and their queue. The lock protects only short state changes.
final class WorkerPool: Sendable {
    struct State {
        var queue: Deque<Job> = []
        /// The signing workers with a usable session.
        var workers: [SigningWorker] = []
        /// How many signing workers there should be.
        var wanted = 0
        /// For how many of them the token has sessions, as far as is known.
        var allowed = 0
        /// Sleeping workers. The last one to sleep is woken first, so that few threads are in use.
        var idle: [SigningWorker] = []
        /// Why the pool cannot sign; nil if it can.
        var outage: KeyError? = .unavailable("The token is being opened.")
        /// The latest fault of a signing worker that is not replaced yet.
        var failures: String?
        var isClosing = false
        /// Whether the watchdog thread looks for calls that hang.
        var isWatched = false
        /// Calls that hang, and whose workers were removed from `workers`.
        var hungCalls = 0

        var isBusy: Bool { !queue.isEmpty || workers.contains { $0.job != nil } }

        /// The caller must signal the worker, without the lock.
        mutating func takeIdleWorker() -> SigningWorker? {
            let worker = idle.popLast()
            worker?.isIdle = false
            return worker
        }

        /// Without a worker, removes the jobs from the queue, so that their callers do not wait.
        mutating func flushIfDown(_ reason: KeyError) -> [Job] {
            guard workers.isEmpty else { return [] }
            if outage == nil { outage = reason }
            defer { queue.removeAll(keepingCapacity: true) }
            return Array(queue)
        }
    }

    let state: Mutex<State>
    private let tickets = Atomic<UInt64>(0)
    let queueLimit: Int
    /// The pool is closing, and no job is left.
    let drained = AsyncEvent()
    private let owner = Mutex<PKCS11TokenBackend?>(nil)
    let metrics: TokenMetrics
    /// How many threads the pool may have besides those that it wants, because their calls hang.
    let stuckLimit: Int

    init(queueLimit: Int, stuckLimit: Int, metrics: TokenMetrics) {
        state = Mutex(State())
        self.queueLimit = queueLimit
        self.stuckLimit = stuckLimit
        self.metrics = metrics
    }

    /// Receives the pool's events, from any thread and without a lock held. Nil after the token was closed.
    var backend: PKCS11TokenBackend? {
        get { owner.withLock { $0 } }
        set { owner.withLock { $0 = newValue } }
    }

    /// Queues the digest and returns its signature. Throws at once if the queue is full or the pool is closed or down.
    func sign(
        _ digest: SHA256Digest, with key: TokenKey, isTrial: Bool = false
    ) async throws(KeyError) -> P256Signature {
        if Task.isCancelled { throw .cancelled }
        let ticket = tickets.wrappingAdd(1, ordering: .relaxed).newValue
        let answer: Job.Answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let now = MonotonicTime.nanoseconds()
                submit(
                    Job(ticket: ticket, digest: digest, key: key, submitted: now, isTrial: isTrial) {
                        caller.resume(returning: $0)
                    })
            }
        } onCancel: {
            cancel(ticket)
        }
        return try answer.get()
    }

    /// Queues the digest. A full queue, and a pool that is closed or down, answer at once.
    func sign(
        _ digest: SHA256Digest, with key: TokenKey, isTrial: Bool = false, receive: @escaping SignatureReceiver
    ) {
        let ticket = tickets.wrappingAdd(1, ordering: .relaxed).newValue
        submit(
            Job(
                ticket: ticket, digest: digest, key: key, submitted: MonotonicTime.nanoseconds(), isTrial: isTrial,
                receive: receive))
    }

    private func submit(_ job: Job) {
        var refusal: KeyError?
        var idleWorker: SigningWorker?
        var mustWatch = false
        state.withLock { state in
            if state.isClosing {
                refusal = .closed
            } else if let outage = state.outage {
                refusal = outage
            } else if state.queue.count >= queueLimit {
                refusal = .busy
            } else {
                state.queue.append(job)
                idleWorker = state.takeIdleWorker()
                mustWatch = !state.isWatched
                state.isWatched = true
            }
        }
        if let refusal { return job.answer(.failure(refusal)) }
        idleWorker?.signal.signal()
        if mustWatch { backend?.watchCalls() }
        // A cancellation before `submit` found no job; a later one finds it.
        if Task.isCancelled { cancel(job.ticket) }
    }

    private func cancel(_ ticket: UInt64) {
        let job = state.withLock { state -> Job? in
            guard let index = state.queue.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            let job = state.queue.remove(at: index)
            noteDrained(state)
            return job
        }
        job?.answer(.failure(.cancelled))
    }

    func noteDrained(_ state: borrowing State) {
        if state.isClosing, !state.isBusy { drained.happen() }
    }
}

extension PKCS11TokenBackend {
    /// Looks for calls that hang, repeatedly while the pool has jobs.
    func watchCalls() {
        watch.run(after: min(max(settings.timeout / 8, 50), 1000)) { [self] in
            let reason = "A call into the token took longer than \(settings.timeout / 1000) s."
            let limit = UInt64(settings.timeout) * 1_000_000
            if pool.removeHung(over: limit, because: reason) { watchCalls() }
        }
    }
}

/// One digest that waits for its signature.
struct Job: Sendable {
    typealias Answer = Result<P256Signature, KeyError>

    let ticket: UInt64
    let digest: SHA256Digest
    let key: TokenKey
    /// Time of submission, in nanoseconds.
    let submitted: UInt64
    /// Whether a first attempt failed because of its session or its key.
    var isRetry = false
    /// Whether the job tries a failing key; other jobs are not signed with such a key.
    var isTrial = false
    /// Called exactly once, by the thread that takes the job.
    let receive: SignatureReceiver

    func answer(_ answer: Answer) { receive(answer) }
}

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
