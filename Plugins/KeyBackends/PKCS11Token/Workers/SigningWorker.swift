internal import Crypto
internal import DequeModule
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A session and the thread that signs with it. The thread ends with the session. The pool's lock protects the mutable
/// state; `signal` wakes the thread.
final class SigningWorker: @unchecked Sendable {
    let signer: Signer
    let signal = Semaphore()
    var job: Job?
    /// Start of the job, in nanoseconds.
    var begun: UInt64 = 0
    var isIdle = false
    /// Whether it has signed a job.
    var hasSigned = false
    /// In a call that takes too long. The thread ends when the call returns.
    var isHung = false
    /// The thread ends before the next job.
    var isEnding = false

    init(_ signer: Signer) {
        self.signer = signer
    }
}

extension WorkerPool {
    /// Adds a signing worker with its own thread.
    ///
    /// - Returns: false if the pool needs no session any more, or the system has no thread left.
    func add(_ signer: Signer) -> Bool {
        let worker = SigningWorker(signer)
        guard SystemThread.start("privyseal-sign", { [self] in run(worker) }) else { return false }
        let isWanted = state.withLock { state in
            worker.isEnding = missing(state) == 0
            if worker.isEnding { return false }
            state.workers.append(worker)
            state.outage = nil
            if state.workers.count >= state.wanted { state.failures = nil }
            return true
        }
        worker.signal.signal()
        return isWanted
    }

    private func run(_ worker: SigningWorker) {
        worker.signal.wait()
        var done: Outcome?
        while let job = next(for: worker, after: done) { done = SigningCall.sign(job, with: worker.signer) }
    }

    struct Outcome: Sendable {
        let job: Job
        let answer: Job.Answer
        /// Why the session is unusable; nil if it is usable.
        var sessionFault: String?
        /// Whether the job needs a second attempt before its caller gets the answer.
        var mustRetry = false
    }

    /// Waits for the next job; nil to end the thread. One lock acquisition records the last job and takes the next.
    private func next(for worker: SigningWorker, after done: consuming Outcome?) -> Job? {
        var done = done
        while true {
            // One clock reading ends one call and begins the next.
            let now = Clock.nanoseconds()
            if done != nil { metrics.noteCall(from: worker.begun, to: now) }
            var turn = Turn()
            state.withLock { state in
                if let outcome = done.take() { settle(outcome, of: worker, &state, &turn) }
                turn.isLast = worker.isEnding
                if !turn.isLast { pick(for: worker, at: now, &state, &turn) }
                noteDrained(state)
            }
            // Do this before the callers get their answers, because they may retry at once.
            turn.signed?.recovered()
            if let answered = turn.answered { answered.job.answer(answered.answer) }
            turn.idleWorker?.signal.signal()
            if let fault = turn.fault {
                for job in turn.flushed { job.answer(.failure(.unavailable(fault))) }
            }
            if turn.discardsSession { backend?.discard(worker.signer.session) }
            if let fault = turn.fault { backend?.workerLost(because: fault, hadSigned: worker.hasSigned) }
            if let job = turn.next {
                metrics.noteWait(from: job.submitted, to: now)
                return job
            }
            if turn.isLast { return nil }
            worker.signal.wait()
        }
    }

    /// Decisions made under the lock, for execution without the lock.
    private struct Turn {
        var next: Job?
        /// The outcome of the last job, if its caller gets it now.
        var answered: Outcome?
        /// A key that had failed before, and signed now.
        var signed: TokenKey?
        /// An idle worker to wake for a queued job.
        var idleWorker: SigningWorker?
        /// Whether the worker leaves the queued job to the worker that it wakes.
        var yieldsJob = false
        /// Why the session was lost.
        var fault: String?
        var flushed: [Job] = []
        var discardsSession = false
        var isLast = false
    }

    private func settle(_ outcome: Outcome, of worker: SigningWorker, _ state: inout State, _ turn: inout Turn) {
        let key = outcome.job.key
        if worker.isHung {
            // The caller already has an answer.
            state.hungCalls -= 1
            key.hangEnded()
            (worker.isEnding, turn.discardsSession) = (true, true)
            return
        }
        worker.job = nil
        if case .success = outcome.answer {
            worker.hasSigned = true
            if key.hasFailed { turn.signed = key }
        }
        if outcome.mustRetry, state.queue.count < queueLimit {
            // First in the queue, for any free session.
            var job = outcome.job
            job.isRetry = true
            state.queue.prepend(job)
        } else {
            turn.answered = outcome
        }
        if let fault = outcome.sessionFault {
            state.workers.removeAll { $0 === worker }
            state.failures = fault
            (worker.isEnding, turn.discardsSession, turn.fault) = (true, true, fault)
            turn.flushed = state.flushIfDown(.unavailable(fault))
            if !state.queue.isEmpty { turn.idleWorker = state.takeIdleWorker() }
        } else if outcome.mustRetry {
            // Wakes an idle worker for the second attempt in another session. No other job waits then.
            turn.idleWorker = state.takeIdleWorker()
            turn.yieldsJob = turn.idleWorker != nil
        }
    }

    private func pick(for worker: SigningWorker, at now: UInt64, _ state: inout State, _ turn: inout Turn) {
        if !turn.yieldsJob, let job = state.queue.popFirst() {
            worker.job = job
            worker.begun = now
            turn.next = job
        } else if !worker.isIdle {
            worker.isIdle = true
            state.idle.append(worker)
        }
    }
}
