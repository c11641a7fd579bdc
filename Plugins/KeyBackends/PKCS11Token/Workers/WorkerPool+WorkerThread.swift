internal import DequeModule
internal import PKCS11
internal import SigningKit
internal import Synchronization

extension WorkerPool {
    /// - Returns: false when the system has no thread left.
    func start(_ worker: SigningWorker) -> Bool {
        SystemThread.start("privyseal-sign") { [self] in
            var done: Outcome?
            while let job = next(for: worker, after: done) {
                done = worker.signer.map { signer in
                    SigningCall.sign(job, with: signer) { backend?.probe($0, except: $1) ?? .noOtherKey }
                }
            }
        }
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
                if worker.state == .ready { pick(for: worker, at: now, &state, &turn) }
                noteDrained(state)
            }
            // Do this before the callers get their answers, because they may retry at once.
            turn.signed?.recovered()
            if let answered = turn.answered { answered.job.answer(answered.answer) }
            act(on: turn)
            if let job = turn.next {
                metrics.noteWait(from: job.submitted, to: now)
                return job
            }
            if turn.mustGo || isOver(worker) { return nil }
            worker.signal.wait()
        }
    }

    private func act(on turn: Turn) {
        turn.idleWorker?.signal.signal()
        for job in turn.flushed { job.answer(.failure(turn.outage)) }
        if let session = turn.discarded { backend?.discard(session) }
        if let fault = turn.fault { backend?.workerLost(because: fault, hadSigned: turn.hadSigned) }
    }

    /// Decisions made under the lock, for execution without the lock.
    private struct Turn {
        var next: Job?
        /// The outcome of the last job, if its caller gets it now.
        var answered: Outcome?
        var mustGo = false
        /// Whether the worker leaves the queued job to the worker that it wakes.
        var yieldsJob = false
        var fault: String?
        /// Whether the worker had signed with the session before the fault.
        var hadSigned = false
        /// A key that had failed before, and signed now.
        var signed: TokenKey?
        var discarded: Session?
        /// An idle worker to wake for a queued job.
        var idleWorker: SigningWorker?
        var flushed: [Job] = []
        var outage = KeyError.closed
    }

    private func settle(_ outcome: Outcome, of worker: SigningWorker, _ state: inout State, _ turn: inout Turn) {
        if worker.state == .hung {
            // The caller already has an answer.
            state.hungCalls -= 1
            outcome.job.key.hangEnded()
            worker.state = .ended
            turn.mustGo = true
            turn.discarded = worker.signer?.session
            worker.signer = nil
            return
        }
        worker.job = nil
        if case .success = outcome.answer {
            worker.hasSigned = true
            if outcome.job.key.hasFailed { turn.signed = outcome.job.key }
        }
        if !retry(outcome, &state) { turn.answered = outcome }
        guard let fault = outcome.sessionFault else {
            if outcome.mustRetry { handOver(from: worker, &state, &turn) }
            return
        }
        turn.fault = fault
        turn.hadSigned = worker.hasSigned
        turn.discarded = worker.signer?.session
        worker.signer = nil
        worker.state = .lost
        state.failures = fault
        turn.outage = .unavailable(fault)
        turn.flushed = Self.flushIfDown(&state, turn.outage)
        if !state.queue.isEmpty {
            turn.idleWorker = state.idle.popLast()
            turn.idleWorker?.isIdle = false
        }
    }

    /// Queues the job first, for any free session. False if it needs no second attempt or the queue is full.
    private func retry(_ outcome: Outcome, _ state: inout State) -> Bool {
        guard outcome.mustRetry else { return false }
        var job = outcome.job
        job.isRetry = true
        guard state.queue.count < queueLimit else { return false }
        state.queue.prepend(job)
        return true
    }

    /// Wakes an idle worker for the second attempt in another session. No other job waits then.
    private func handOver(from worker: SigningWorker, _ state: inout State, _ turn: inout Turn) {
        guard let idleWorker = state.idle.popLast() else { return }
        idleWorker.isIdle = false
        turn.idleWorker = idleWorker
        turn.yieldsJob = true
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

    private func isOver(_ worker: SigningWorker) -> Bool {
        state.withLock { _ in worker.state == .ended }
    }

    /// Without a ready worker, removes the jobs from the queue, so that their callers do not wait.
    static func flushIfDown(_ state: inout State, _ outage: KeyError) -> [Job] {
        guard state.readyWorkers == 0 else { return [] }
        if state.outage == nil { state.outage = outage }
        defer { state.queue.removeAll(keepingCapacity: true) }
        return Array(state.queue)
    }
}
