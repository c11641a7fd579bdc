import Crypto
import DequeModule
import PKCS11
import SigningKit
import Synchronization

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
            let now = MonotonicTime.nanoseconds()
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

/// Signs a job on the thread of a signing worker.
enum SigningCall {
    static func sign(_ job: Job, with signer: Signer) -> WorkerPool.Outcome {
        // The key began to fail while the job waited.
        if !job.isTrial, let error = job.key.failurePauseError {
            return WorkerPool.Outcome(job: job, answer: .failure(error))
        }
        do throws(SigningFault) {
            let signature = try job.key.sign(job.digest, with: signer)
            guard let signature else {
                let sentence = "The token returned a signature that is not 64 bytes long, as P-256 requires."
                return WorkerPool.Outcome(job: job, answer: .failure(.failed(sentence)))
            }
            return WorkerPool.Outcome(job: job, answer: .success(signature))
        } catch {
            let failure = error.whileSigning(with: job.key.name)
            var outcome = WorkerPool.Outcome(job: job, answer: .failure(failure))
            guard error.endsSession else { return outcome }
            guard case .token(let fault) = error else {
                // The token refused the PIN for this signature: a second attempt would send it again.
                outcome.sessionFault = failure.description
                return outcome
            }
            let connection = job.key.pool.backend?.connection
            let probe = connection?.probe(signer, except: job.key) ?? .noOtherKey
            classify(&outcome, fault, failure, probe, signer.session)
            return outcome
        }
    }

    /// Decides how to continue: the return value does not tell whether the key, the session or the token fails.
    private static func classify(
        _ outcome: inout WorkerPool.Outcome, _ fault: PKCS11Error, _ failure: KeyError, _ probe: SessionProbe,
        _ session: Session
    ) {
        let key = outcome.job.key
        let isLast = outcome.job.isRetry
        outcome.mustRetry = !isLast
        switch probe {
        case .signed:
            guard isLast else { return }
            // An invalid handle is not a transient error.
            if fault.returnValue.recovery == .handle { key.beganToFail(failure) } else { key.failed(failure) }
        case .failed(let error):
            outcome.sessionFault = failure.description
            if error.returnValue == .operationActive, fault.returnValue != .operationActive {
                // The key left an operation active, which ends only with the session. Another session would not help.
                key.beganToFail(failure)
                outcome.mustRetry = false
            }
        case .othersAskForPIN:
            let isGood = fault.leavesSession(session)
            if !isGood { outcome.sessionFault = failure.description }
            guard isLast, !(key.requiresContextLogin && fault.namesSession) else { return }
            if isGood, !key.requiresContextLogin, fault.returnValue.recovery != .handle {
                key.failed(failure)
            } else {
                // Each attempt costs a session or a login.
                key.beganToFail(failure)
            }
        case .noOtherKey:
            // The first failure may be transient. After the second one, the session is as unusable as its only key.
            if isLast || !fault.leavesSession(session) { outcome.sessionFault = failure.description }
            // A login for each attempt is too many.
            if isLast, key.requiresContextLogin, !fault.namesSession { key.beganToFail(failure) }
        }
    }
}
