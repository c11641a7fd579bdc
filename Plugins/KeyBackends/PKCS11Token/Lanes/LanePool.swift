internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// Lanes, and the queue in front of them. Nobody waits for the lock longer than for a few words of state.
final class LanePool: Sendable {
    struct State {
        var queue: JobQueue
        var lanes: [Lane] = []
        /// How many lanes there should be.
        var wanted = 0
        /// Lanes that sleep; the last one to fall asleep is woken first, so that few threads are warm.
        var idle: [Lane] = []
        /// Why there is nothing to sign with.
        var outage: KeyError? = .unavailable("The token is being opened.")
        /// The last thing that went wrong with a lane that is not back yet.
        var trouble: String?
        /// Keys that the token does not have now.
        var missingKeys: Set<String> = []
        var isClosing = false
        /// Whether somebody looks for calls that hang.
        var isWatched = false
        /// Calls that hang, and whose lanes were set aside.
        var stuck = 0
        /// Wakes those who wait until nothing is in flight.
        var drained: [CheckedContinuation<Void, Never>] = []

        var readyLanes: Int { lanes.count { $0.state == .ready } }
        var isBusy: Bool { queue.count > 0 || lanes.contains { $0.job != nil } }
    }

    let state: Mutex<State>
    private let tickets = Atomic<UInt64>(0)
    let events: any LanePoolEvents
    let metrics: TokenMetrics
    /// With more calls that hang than these, threads are not replaced any more.
    let stuckLimit: Int

    init(queueLimit: Int, stuckLimit: Int, events: any LanePoolEvents, metrics: TokenMetrics) {
        state = Mutex(State(queue: JobQueue(limit: queueLimit)))
        self.stuckLimit = stuckLimit
        self.events = events
        self.metrics = metrics
    }

    /// Signs in turn. Full, closed or down: it says so at once.
    ///
    /// - Parameter isTrial: whether it tries a key that is ill.
    func sign(
        _ digest: SHA256Digest, with key: TokenKey, isTrial: Bool = false
    ) async throws(KeyError) -> P256Signature {
        if Task.isCancelled { throw .cancelled }
        let ticket = tickets.wrappingAdd(1, ordering: .relaxed).newValue
        let delivery: Delivery = await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let now = Clock.nanoseconds()
                submit(
                    Job(ticket: ticket, digest: digest, key: key, caller: caller, submitted: now, isTrial: isTrial))
            }
        } onCancel: {
            cancel(ticket)
        }
        return try delivery.opened().get()
    }

    private func submit(_ job: Job) {
        var refusal: KeyError?
        var sleeper: Lane?
        var mustWatch = false
        state.withLock { state in
            if state.isClosing {
                refusal = .closed
            } else if let outage = state.outage {
                refusal = outage
            } else if !state.queue.append(job) {
                refusal = .busy
            } else {
                sleeper = state.idle.popLast()
                sleeper?.isIdle = false
                mustWatch = !state.isWatched
                state.isWatched = true
            }
        }
        if let refusal { return job.answer(.failure(refusal)) }
        sleeper?.bell.signal()
        if mustWatch { events.watch() }
        // A cancellation before this found no job; one after it will.
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

/// What a pool tells its backend. Called from any thread, without a lock held.
protocol LanePoolEvents: AnyObject, Sendable {
    /// Something is in flight: look for calls that hang.
    func watch()
    /// A lane has no session any more, or its call hangs.
    ///
    /// - Parameter hadSigned: whether it signed with that session before.
    func laneLost(because reason: String, hadSigned: Bool)
    /// The token does not know a key any more.
    func keyLost(_ name: String)
    /// A key does not sign, while its token does.
    func keyIll(_ name: String, because reason: String)
    /// A key that is ill may have another handle by now.
    func seek(_ key: TokenKey)
    /// On a lane's thread: has a key other than the one that failed sign with this session.
    func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe
    /// A session is left over from a lane that was lost or set aside.
    func discard(_ session: Session)
}
