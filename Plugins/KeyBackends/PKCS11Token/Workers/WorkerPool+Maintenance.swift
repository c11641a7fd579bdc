internal import DequeModule
internal import PKCS11
internal import SigningKit
internal import Synchronization

extension WorkerPool {
    /// Adds signing workers without sessions, until `count` of them do not hang.
    func fill(to count: Int) {
        let fresh = state.withLock { state -> [SigningWorker] in
            guard !state.isClosing, state.hungCalls <= stuckLimit else { return [] }
            let fresh = (0..<max(0, count - state.workers.count)).map { _ in SigningWorker() }
            state.workers += fresh
            return fresh
        }
        for worker in fresh where !start(worker) {
            state.withLock { state in state.workers.removeAll { $0 === worker } }
        }
    }

    func canGrow(to count: Int) -> Bool {
        state.withLock { !$0.isClosing && $0.hungCalls <= stuckLimit && $0.workers.count < count }
    }

    /// Whether the pool would replace a thread whose call hangs.
    var canReplaceThread: Bool { state.withLock { $0.hungCalls < stuckLimit } }

    func want(_ count: Int) {
        state.withLock { $0.wanted = count }
    }

    /// Removes the signing workers that have no session.
    func dropLostWorkers(because reason: String) {
        let dropped = state.withLock { state in
            state.failures = reason
            let dropped = state.workers.filter { $0.state == .lost }
            for worker in dropped { worker.state = .ended }
            state.workers.removeAll { $0.state == .ended }
            return dropped
        }
        for worker in dropped { worker.signal.signal() }
    }

    var lostWorkers: [SigningWorker] {
        state.withLock { state in state.workers.filter { $0.state == .lost } }
    }

    var readyWorkers: Int { state.withLock { $0.readyWorkers } }

    /// - Returns: false if the worker needs no session any more.
    func attachSession(_ worker: SigningWorker, with signer: Signer) -> Bool {
        let isWanted = state.withLock { state in
            guard worker.state == .lost, !state.isClosing else { return false }
            worker.signer = signer
            worker.hasSigned = false
            worker.state = .ready
            state.outage = nil
            if state.readyWorkers >= state.wanted { state.failures = nil }
            return true
        }
        if isWanted { worker.signal.signal() }
        return isWanted
    }

    /// Any thread may call this when a signature shows that the token lost the key.
    func keyLost(_ name: String) {
        note(name, isMissing: true)
        backend?.keyLost(name)
    }

    func note(_ key: String, isMissing: Bool) {
        state.withLock { state in
            if isMissing { state.missingKeys.insert(key) } else { state.missingKeys.remove(key) }
        }
    }

    /// Discards the sessions that are not in a call, for a token that has no key left to sign with.
    func closeIdleWorkers() {
        let left = state.withLock { state in
            var left: [Session] = []
            for worker in state.workers where worker.state == .ready && worker.job == nil {
                if let signer = worker.signer.take() { left.append(signer.session) }
                worker.state = .lost
                worker.isIdle = false
            }
            state.idle.removeAll { $0.state != .ready }
            return left
        }
        for session in left { backend?.discard(session) }
    }

    /// Sets the reason why the pool cannot sign and fails the queued jobs, if no signing worker is ready.
    func report(_ outage: KeyError) {
        let flushed = state.withLock { state in
            guard state.readyWorkers == 0 else { return [Job]() }
            state.outage = outage
            return Self.flushIfDown(&state, outage)
        }
        for job in flushed { job.answer(.failure(outage)) }
    }

    /// Removes signing workers whose call takes longer than `limit` nanoseconds, and answers their callers.
    ///
    /// - Returns: whether the watchdog thread must check again.
    func removeHung(over limit: UInt64, because reason: String) -> Bool {
        // `begun` of a worker may be later than this, so a subtraction could overflow.
        let now = Clock.nanoseconds()
        var hung: [Job] = []
        var flushed: [Job] = []
        let again = state.withLock { state in
            for worker in state.workers where worker.state == .ready && worker.job != nil && now > worker.begun + limit
            {
                if let job = worker.job.take() { hung.append(job) }
                worker.state = .hung
                state.hungCalls += 1
                state.failures = reason
            }
            state.workers.removeAll { $0.state == .hung }
            if !hung.isEmpty { flushed = Self.flushIfDown(&state, .unavailable(reason)) }
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
            guard state.readyWorkers == 0 else { return [Job]() }
            defer { state.queue.removeAll() }
            return Array(state.queue)
        }
        for job in flushed { job.answer(.failure(.closed)) }
        state.withLock { noteDrained($0) }
        await drained.wait()
    }

    /// Ends the threads of the signing workers, and returns the workers' sessions.
    func end() -> [Session] {
        let workers = state.withLock { state in
            for worker in state.workers { worker.state = .ended }
            return state.workers
        }
        for worker in workers { worker.signal.signal() }
        return workers.compactMap { $0.signer?.session }
    }

    /// Health and figures of the same moment.
    var report: (health: KeyBackendHealth, figures: KeyBackendReport.Pool) {
        state.withLock { state in
            let figures = KeyBackendReport.Pool(
                wanted: state.wanted, ready: state.readyWorkers,
                busy: state.workers.count { $0.state == .ready && $0.job != nil }, hungCalls: state.hungCalls,
                queueDepth: state.queue.count, queueLimit: queueLimit, reconnects: metrics.reconnects)
            return (Self.health(state), figures)
        }
    }

    private static func health(_ state: borrowing State) -> KeyBackendHealth {
        if state.isClosing { return .unavailable(KeyError.closed.description) }
        if let outage = state.outage { return .unavailable(outage.description) }
        let ready = state.readyWorkers
        if state.hungCalls > 0 {
            return .degraded("\(state.hungCalls) calls into the token hang. \(state.failures ?? "")")
        }
        guard ready >= state.wanted else {
            return .degraded("\(ready) of \(state.wanted) sessions sign. \(state.failures ?? "")")
        }
        if let key = state.missingKeys.min() { return .degraded("The token does not have \(key) now.") }
        return .ready
    }
}
