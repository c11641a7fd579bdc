import DequeModule
import PKCS11
import SigningKit
import Synchronization

extension WorkerPool {
    /// Whether the pool would replace a thread whose call hangs.
    var canReplaceThread: Bool { state.withLock { $0.hungCalls < stuckLimit } }

    func want(_ count: Int) { state.withLock { ($0.wanted, $0.allowed) = (count, count) } }

    /// The token may have sessions for all signing workers again.
    func allowAll() { state.withLock { $0.allowed = $0.wanted } }

    /// The token has no session for the missing signing workers now.
    func dropMissingWorkers(because reason: String) {
        state.withLock { ($0.failures, $0.allowed) = (reason, $0.workers.count) }
    }

    var hasAllWorkers: Bool { state.withLock { $0.workers.count >= $0.wanted } }

    /// Signing workers that the maintenance thread must add.
    var missingWorkers: Int { state.withLock { missing($0) } }

    func missing(_ state: borrowing State) -> Int {
        // At most `wanted + stuckLimit` threads, with those whose calls hang.
        let limit = min(state.allowed, state.wanted + stuckLimit - state.hungCalls)
        return state.isClosing ? 0 : max(limit - state.workers.count, 0)
    }

    var readyWorkers: Int { state.withLock { $0.workers.count } }

    /// Discards the sessions that are not in a call, for a token that has no key left to sign with.
    func closeIdleWorkers() {
        let left = state.withLock { state in
            let left = state.workers.filter { $0.job == nil }
            for worker in left { worker.isEnding = true }
            state.workers.removeAll { $0.isEnding }
            state.idle.removeAll { $0.isEnding }
            return left
        }
        for worker in left {
            worker.signal.signal()
            backend?.discard(worker.signer.session)
        }
    }

    /// Sets the reason why the pool cannot sign and fails the queued jobs, if no signing worker is ready.
    func report(_ outage: KeyError) {
        let flushed = state.withLock { state in
            guard state.workers.isEmpty else { return [Job]() }
            state.outage = outage
            return state.flushIfDown(outage)
        }
        for job in flushed { job.answer(.failure(outage)) }
    }

    /// Removes signing workers whose call takes longer than `limit` nanoseconds, and answers their callers.
    ///
    /// - Returns: whether the watchdog thread must check again.
    func removeHung(over limit: UInt64, because reason: String) -> Bool {
        // `begun` of a worker may be later than this, so a subtraction could overflow.
        let now = MonotonicTime.nanoseconds()
        var hung: [Job] = []
        var flushed: [Job] = []
        let again = state.withLock { state in
            for worker in state.workers where now > worker.begun + limit {
                guard let job = worker.job.take() else { continue }
                hung.append(job)
                worker.isHung = true
            }
            if !hung.isEmpty {
                state.workers.removeAll { $0.isHung }
                state.hungCalls += hung.count
                state.failures = reason
                flushed = state.flushIfDown(.unavailable(reason))
            }
            noteDrained(state)
            state.isWatched = state.isBusy
            return state.isWatched
        }
        // Do this before the callers get their answers, because they may retry at once.
        for job in hung { job.key.beganToHang(.unavailable(reason)) }
        for job in hung + flushed { job.answer(.failure(.unavailable(reason))) }
        for _ in hung { backend?.workerLost(because: reason, hadSigned: false) }
        return again
    }

    /// Refuses new jobs, and waits for the accepted ones.
    func drain() async {
        let flushed = state.withLock { state in
            state.isClosing = true
            return state.flushIfDown(.closed)
        }
        for job in flushed { job.answer(.failure(.closed)) }
        state.withLock { noteDrained($0) }
        await drained.wait()
    }

    /// Ends the threads of the signing workers, and returns the workers' sessions.
    func end() -> [Session] {
        let workers = state.withLock { state in
            for worker in state.workers { worker.isEnding = true }
            return state.workers
        }
        for worker in workers { worker.signal.signal() }
        return workers.map(\.signer.session)
    }

    /// Health and figures of the same moment.
    var report: (health: KeyBackendHealth, figures: KeyBackendReport.Pool) {
        state.withLock { state in
            let figures = KeyBackendReport.Pool(
                wanted: state.wanted, ready: state.workers.count,
                busy: state.workers.count { $0.job != nil }, hungCalls: state.hungCalls,
                queueDepth: state.queue.count, queueLimit: queueLimit, reconnects: metrics.reconnects)
            return (Self.health(state), figures)
        }
    }

    private static func health(_ state: borrowing State) -> KeyBackendHealth {
        if state.isClosing { return .unavailable(KeyError.closed.description) }
        if let outage = state.outage { return .unavailable(outage.description) }
        let ready = state.workers.count
        if state.hungCalls > 0 {
            return .degraded("\(state.hungCalls) calls into the token hang. \(state.failures ?? "")")
        }
        guard ready >= state.wanted else {
            return .degraded("\(ready) of \(state.wanted) sessions sign. \(state.failures ?? "")")
        }
        return .ready
    }
}
