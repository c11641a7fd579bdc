internal import PKCS11
internal import SigningKit
internal import Synchronization

/// What the keeper and the watch do with the lanes.
extension LanePool {
    /// Makes lanes without sessions, until there are `count` that do not hang.
    func fill(to count: Int) {
        let fresh = state.withLock { state -> [Lane] in
            guard !state.isClosing, state.stuck <= stuckLimit else { return [] }
            let fresh = (0..<max(0, count - state.lanes.count)).map { _ in Lane() }
            state.lanes += fresh
            return fresh
        }
        for lane in fresh where !start(lane) {
            state.withLock { state in state.lanes.removeAll { $0 === lane } }
        }
    }

    func canGrow(to count: Int) -> Bool {
        state.withLock { !$0.isClosing && $0.stuck <= stuckLimit && $0.lanes.count < count }
    }

    /// Whether a thread whose call hangs would be replaced.
    var canReplaceThread: Bool { state.withLock { $0.stuck < stuckLimit } }

    func want(_ count: Int) {
        state.withLock { $0.wanted = count }
    }

    /// Does with fewer lanes.
    func dropLostLanes(because reason: String) {
        let dropped = state.withLock { state in
            state.trouble = reason
            let dropped = state.lanes.filter { $0.state == .lost }
            for lane in dropped { lane.state = .ended }
            state.lanes.removeAll { $0.state == .ended }
            return dropped
        }
        for lane in dropped { lane.bell.signal() }
    }

    /// Lanes that wait for a session.
    var lostLanes: [Lane] {
        state.withLock { state in state.lanes.filter { $0.state == .lost } }
    }

    var readyLanes: Int { state.withLock { $0.readyLanes } }

    /// - Returns: false when the lane wants no session any more.
    func revive(_ lane: Lane, with signer: Signer) -> Bool {
        let isWanted = state.withLock { state in
            guard lane.state == .lost, !state.isClosing else { return false }
            lane.signer = signer
            lane.hasSigned = false
            lane.state = .ready
            state.outage = nil
            if state.readyLanes >= state.wanted { state.trouble = nil }
            return true
        }
        if isWanted { lane.bell.signal() }
        return isWanted
    }

    /// From any thread: a signature found that the key is gone.
    func keyLost(_ name: String) {
        note(name, isMissing: true)
        events.keyLost(name)
    }

    func note(_ key: String, isMissing: Bool) {
        state.withLock { state in
            if isMissing { state.missingKeys.insert(key) } else { state.missingKeys.remove(key) }
        }
    }

    /// Gives up the sessions that are not in a call: for a token that has no key left to sign with.
    func giveUpIdleLanes() {
        let left = state.withLock { state in
            var left: [Session] = []
            for lane in state.lanes where lane.state == .ready && lane.job == nil {
                if let signer = lane.signer.take() { left.append(signer.session) }
                lane.state = .lost
                lane.isIdle = false
            }
            state.idle.removeAll { $0.state != .ready }
            return left
        }
        for session in left { events.discard(session) }
    }

    /// Says why nothing can be signed, as long as no lane is ready.
    func report(_ outage: KeyError) {
        let flushed = state.withLock { state in
            guard state.readyLanes == 0 else { return [Job]() }
            state.outage = outage
            return Self.flushIfDown(&state, outage)
        }
        for job in flushed { job.answer(.failure(outage)) }
    }

    /// Sets lanes aside whose call takes longer than `limit` nanoseconds, and answers their callers.
    ///
    /// - Returns: whether to look again.
    func setAside(over limit: UInt64, because reason: String) -> Bool {
        // May be a moment before a lane begins: so nothing is subtracted.
        let now = Clock.nanoseconds()
        var hung: [Job] = []
        var late: [Outcome] = []
        var flushed: [Job] = []
        let again = state.withLock { state in
            for lane in state.lanes where lane.state == .ready && lane.job != nil && now > lane.begun + limit {
                if let job = lane.job.take() { hung.append(job) }
                late += lane.done
                lane.done = []
                lane.state = .aside
                state.stuck += 1
                state.trouble = reason
            }
            state.lanes.removeAll { $0.state == .aside }
            if !hung.isEmpty { flushed = Self.flushIfDown(&state, .unavailable(reason)) }
            Self.noteDrained(&state)
            state.isWatched = state.isBusy
            return state.isWatched
        }
        // Before its callers hear of it, who may ask again at once.
        for job in hung { job.key.beganToHang(.unavailable(reason)) }
        for outcome in late { outcome.job.answer(outcome.answer) }
        for job in hung + flushed { job.answer(.failure(.unavailable(reason))) }
        for _ in hung { events.laneLost(because: reason, hadSigned: false) }
        return again
    }

    /// Refuses new jobs, and waits for those that it has.
    func drain() async {
        let flushed = state.withLock { state in
            state.isClosing = true
            var flushed: [Job] = []
            if state.readyLanes == 0 { while let job = state.queue.popFirst() { flushed.append(job) } }
            return flushed
        }
        for job in flushed { job.answer(.failure(.closed)) }
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.drained.append(continuation)
                Self.noteDrained(&state)
            }
        }
    }

    /// Ends the lanes' threads.
    ///
    /// - Returns: the sessions that they leave.
    func end() -> [Session] {
        let lanes = state.withLock { state in
            for lane in state.lanes { lane.state = .ended }
            return state.lanes
        }
        for lane in lanes { lane.bell.signal() }
        return lanes.compactMap { $0.signer?.session }
    }

    var health: KeyBackendHealth {
        state.withLock { Self.health($0) }
    }

    /// Health and figures of one moment.
    var report: (health: KeyBackendHealth, figures: KeyBackendReport.Pool) {
        state.withLock { state in
            let figures = KeyBackendReport.Pool(
                wanted: state.wanted, ready: state.readyLanes,
                busy: state.lanes.count { $0.state == .ready && $0.job != nil }, stuck: state.stuck,
                queueDepth: state.queue.count, queueLimit: state.queue.limit, reconnects: metrics.reconnects)
            return (Self.health(state), figures)
        }
    }

    private static func health(_ state: borrowing State) -> KeyBackendHealth {
        if state.isClosing { return .unavailable(KeyError.closed.description) }
        if let outage = state.outage { return .unavailable(outage.description) }
        let ready = state.readyLanes
        if state.stuck > 0 {
            return .degraded("\(state.stuck) calls into the token hang. \(state.trouble ?? "")")
        }
        guard ready >= state.wanted else {
            return .degraded("\(ready) of \(state.wanted) sessions sign. \(state.trouble ?? "")")
        }
        if let key = state.missingKeys.min() { return .degraded("The token does not have \(key) now.") }
        return .ready
    }
}
