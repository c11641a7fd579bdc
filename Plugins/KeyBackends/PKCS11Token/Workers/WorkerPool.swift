internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// The signing workers and their queue. The lock protects only short state changes.
final class WorkerPool: Sendable {
    struct State {
        var queue: JobQueue
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
        /// Callers of `drain`, which wait until no job is left.
        var drained: [CheckedContinuation<Void, Never>] = []

        var readyWorkers: Int { workers.count { $0.state == .ready } }
        var isBusy: Bool { queue.count > 0 || workers.contains { $0.job != nil } }
    }

    let state: Mutex<State>
    private let tickets = Atomic<UInt64>(0)
    let events: any WorkerPoolObserver
    let metrics: TokenMetrics
    /// With more hung calls than this, the pool replaces no threads.
    let stuckLimit: Int

    init(queueLimit: Int, stuckLimit: Int, events: any WorkerPoolObserver, metrics: TokenMetrics) {
        state = Mutex(State(queue: JobQueue(limit: queueLimit)))
        self.stuckLimit = stuckLimit
        self.events = events
        self.metrics = metrics
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
            } else if !state.queue.append(job) {
                refusal = .busy
            } else {
                idleWorker = state.idle.popLast()
                idleWorker?.isIdle = false
                mustWatch = !state.isWatched
                state.isWatched = true
            }
        }
        if let refusal { return job.answer(.failure(refusal)) }
        idleWorker?.signal.signal()
        if mustWatch { events.watch() }
        // A cancellation before `submit` found no job; a later one finds it.
        if Task.isCancelled { cancel(job.ticket) }
    }

    private func cancel(_ ticket: UInt64) {
        let job = state.withLock { state in
            let job = state.queue.remove(ticket)
            if job != nil { Self.noteDrained(&state) }
            return job
        }
        job?.answer(.failure(.cancelled))
    }

    static func noteDrained(_ state: inout State) {
        guard !state.drained.isEmpty, !state.isBusy else { return }
        for waiter in state.drained { waiter.resume() }
        state.drained = []
    }
}

/// Events that a pool reports to its token. A call comes from any thread, without a lock held.
protocol WorkerPoolObserver: AnyObject, Sendable {
    /// The pool has jobs: look for calls that hang.
    func watch()
    /// A signing worker lost its session, or its call hangs. `hadSigned`: whether it had signed with that session.
    func workerLost(because reason: String, hadSigned: Bool)
    func keyLost(_ name: String)
    /// A key does not sign, although its token does.
    func keyFailing(_ name: String, because reason: String)
    /// A failing key may have a new handle.
    func seek(_ key: TokenKey)
    /// Signs with another key than `key` in this session. Runs on the thread of a signing worker.
    func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe
    /// A worker that was lost or removed left this session.
    func discard(_ session: Session)
}
