internal import PKCS11
internal import SigningKit
internal import Synchronization

/// What a lane's thread does.
extension LanePool {
    /// - Returns: false when the system has no thread left.
    func start(_ lane: Lane) -> Bool {
        Thread.start("privyseal-lane") { [self] in
            var done: Outcome?
            while let job = next(for: lane, after: done) {
                done = lane.signer.map { SigningCall.sign(job, with: $0) { events.probe($0, except: $1) } }
            }
        }
    }

    /// What came of a job.
    struct Outcome: Sendable {
        let job: Job
        let answer: Job.Answer
        /// Why the session cannot be used any more; nil when it can.
        var sessionFault: String?
        /// Whether to try once more before this is the answer.
        var mustRetry = false
    }

    /// Answers are held back until there are at most so many of them, and delivered together: to wake a caller costs 5 to
    /// 10 µs, and with a core of its own for each lane that is taken from a lane.
    static let batch = 64
    /// Only while more jobs wait than answers are held back, so that neither lane nor caller runs dry …
    private static let backlog = 4
    /// … and not for longer than this, in nanoseconds: a token that takes its time delivers each signature at once.
    private static let patience: UInt64 = 3_000_000

    /// Waits for the next job. One turn of the lock notes what is done and takes what comes next.
    ///
    /// - Returns: nil when the lane's thread should go.
    private func next(for lane: Lane, after done: consuming Outcome?) -> Job? {
        var done = done
        while true {
            // One look at the clock ends one call and begins the next.
            let now = Clock.nanoseconds()
            if done != nil { metrics.noteCall(from: lane.begun, to: now) }
            var turn = Turn()
            var delivery: [Outcome] = []
            state.withLock { state in
                if let outcome = done.take() { settle(outcome, of: lane, &state, &turn) }
                if lane.state == .ready { pick(for: lane, at: now, &state, &turn) }
                if turn.next == nil || mustDeliver(lane, state) { swap(&lane.done, &delivery) }
                Self.noteDrained(&state)
            }
            // Before its callers hear of it, who may ask again at once.
            turn.signed?.recovered()
            Delivery.deliver(delivery)
            act(on: turn)
            if let job = turn.next {
                metrics.noteWait(from: job.submitted, to: now)
                return job
            }
            if turn.mustGo || isOver(lane) { return nil }
            lane.bell.wait()
        }
    }

    private func mustDeliver(_ lane: Lane, _ state: borrowing State) -> Bool {
        lane.done.count >= Self.batch || state.queue.count < max(Self.backlog, lane.done.count)
            || lane.begun > lane.doneSince + Self.patience
    }

    private func act(on turn: Turn) {
        turn.sleeper?.bell.signal()
        for job in turn.flushed { job.answer(.failure(turn.outage)) }
        if let session = turn.discarded { events.discard(session) }
        if let fault = turn.fault { events.laneLost(because: fault, hadSigned: turn.hadSigned) }
    }

    /// What one turn of the lock decided, to be acted on without it.
    private struct Turn {
        var next: Job?
        var mustGo = false
        /// Whether the lane leaves what waits to the one that is woken.
        var mustRest = false
        var fault: String?
        /// Whether the lane signed before the fault.
        var hadSigned = false
        /// A key that had failed before, and signed.
        var signed: TokenKey?
        var discarded: Session?
        /// A lane to wake for a job that is tried once more.
        var sleeper: Lane?
        var flushed: [Job] = []
        var outage = KeyError.closed
    }

    private func settle(_ outcome: Outcome, of lane: Lane, _ state: inout State, _ turn: inout Turn) {
        if lane.state == .aside {
            // The caller has been answered long ago.
            state.stuck -= 1
            outcome.job.key.endedToHang()
            lane.state = .ended
            turn.mustGo = true
            turn.discarded = lane.signer?.session
            lane.signer = nil
            return
        }
        lane.job = nil
        if case .success = outcome.answer {
            lane.hasSigned = true
            if outcome.job.key.hasFailed { turn.signed = outcome.job.key }
        }
        if !retry(outcome, &state) {
            if lane.done.isEmpty { lane.doneSince = lane.begun }
            lane.done.append(outcome)
        }
        guard let fault = outcome.sessionFault else {
            if outcome.mustRetry { handOver(from: lane, &state, &turn) }
            return
        }
        turn.fault = fault
        turn.hadSigned = lane.hasSigned
        turn.discarded = lane.signer?.session
        lane.signer = nil
        lane.state = .lost
        state.trouble = fault
        turn.outage = .unavailable(fault)
        turn.flushed = Self.flushIfDown(&state, turn.outage)
        if state.queue.count > 0 {
            turn.sleeper = state.idle.popLast()
            turn.sleeper?.isIdle = false
        }
    }

    /// Before the others that wait, and on whichever session is free first.
    ///
    /// - Returns: false when the job had its second attempt, or the queue has no room.
    private func retry(_ outcome: Outcome, _ state: inout State) -> Bool {
        guard outcome.mustRetry else { return false }
        var job = outcome.job
        job.isRetry = true
        return state.queue.prepend(job)
    }

    /// A job that is tried once more goes to another session where one is idle. Nothing else waits then.
    private func handOver(from lane: Lane, _ state: inout State, _ turn: inout Turn) {
        guard let sleeper = state.idle.popLast() else { return }
        sleeper.isIdle = false
        turn.sleeper = sleeper
        turn.mustRest = true
    }

    private func pick(for lane: Lane, at now: UInt64, _ state: inout State, _ turn: inout Turn) {
        if !turn.mustRest, let job = state.queue.popFirst() {
            lane.job = job
            lane.begun = now
            turn.next = job
        } else if !lane.isIdle {
            lane.isIdle = true
            state.idle.append(lane)
        }
    }

    private func isOver(_ lane: Lane) -> Bool {
        state.withLock { _ in lane.state == .ended }
    }

    /// With no lane left, nobody should wait.
    static func flushIfDown(_ state: inout State, _ outage: KeyError) -> [Job] {
        guard state.readyLanes == 0 else { return [] }
        if state.outage == nil { state.outage = outage }
        var flushed: [Job] = []
        while let job = state.queue.popFirst() { flushed.append(job) }
        return flushed
    }
}
