internal import Crypto
internal import DequeModule
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// The signing workers and their queue. The lock protects only short state changes.
final class WorkerPool: Sendable {
    struct State {
        var queue: Deque<Job> = []
        var workers: [SigningWorker] = []
        /// How many signing workers there should be.
        var wanted = 0
        /// Sleeping workers. The last one to sleep is woken first, so that few threads are in use.
        var idle: [SigningWorker] = []
        /// Why the pool cannot sign; nil if it can.
        var outage: KeyError? = .unavailable("The token is being opened.")
        /// The latest fault of a signing worker that has no new session yet.
        var failures: String?
        var missingKeys: Set<String> = []
        var isClosing = false
        /// Whether the watchdog thread looks for calls that hang.
        var isWatched = false
        /// Calls that hang, and whose workers were removed from `workers`.
        var hungCalls = 0

        var readyWorkers: Int { workers.count { $0.state == .ready } }
        var isBusy: Bool { !queue.isEmpty || workers.contains { $0.job != nil } }
    }

    let state: Mutex<State>
    private let tickets = Atomic<UInt64>(0)
    let queueLimit: Int
    /// The pool is closing, and no job is left.
    let drained = AsyncEvent()
    private let owner = Mutex<PKCS11TokenBackend?>(nil)
    let metrics: TokenMetrics
    /// With more hung calls than this, the pool replaces no threads.
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
                let now = Clock.nanoseconds()
                submit(
                    Job(ticket: ticket, digest: digest, key: key, caller: caller, submitted: now, isTrial: isTrial))
            }
        } onCancel: {
            cancel(ticket)
        }
        return try answer.get()
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
                idleWorker = state.idle.popLast()
                idleWorker?.isIdle = false
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
