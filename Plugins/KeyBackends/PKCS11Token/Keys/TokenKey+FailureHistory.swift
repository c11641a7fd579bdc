internal import SigningKit
internal import Synchronization

/// The failures of a key, updated from any thread. A failing key leaves the token's sessions to the other keys.
struct KeyFailureHistory: ~Copyable {
    let failurePause = Mutex<KeyFailurePause?>(nil)
    /// Whether `failurePause` is set, so that a signature takes no lock.
    let hasFailurePause = Atomic<Bool>(false)
    /// Consecutive requests that failed in good sessions.
    let failures = Atomic<Int>(0)
    /// Calls with the key that hang.
    let hanging = Atomic<Int>(0)

    /// After this many consecutive failures the key pauses. Single failures of an overloaded token are transient.
    static let limit = 5
}

extension TokenKey {
    var isFailing: Bool { failures.hasFailurePause.load(ordering: .relaxed) }

    var isHanging: Bool { failures.hanging.load(ordering: .relaxed) > 0 }

    /// Why the key is not used now; nil if it is used.
    var failurePauseError: KeyError? { isFailing ? failures.failurePause.withLock { $0?.error } : nil }

    /// Records that a request failed twice, in good sessions.
    func failed(_ error: KeyError) {
        let failures = failures.failures.add(1, ordering: .relaxed).newValue
        if isFailing || failures >= KeyFailureHistory.limit { beganToFail(error) }
    }

    /// Records that the key does not sign although its token does.
    func beganToFail(_ error: KeyError) {
        // The key may have a new handle.
        if noteFailure(error, pause: KeyFailurePause.shortest) { pool.events.seek(self) }
    }

    /// Records that a call with the key hangs. There is no search for the key, which may hang as well.
    func beganToHang(_ error: KeyError) {
        failures.hanging.add(1, ordering: .relaxed)
        _ = noteFailure(error, pause: KeyFailurePause.shortestAfterHang)
    }

    func hangEnded() {
        failures.hanging.subtract(1, ordering: .relaxed)
    }

    /// - Returns: whether a pause begins or becomes longer.
    private func noteFailure(_ error: KeyError, pause: UInt64) -> Bool {
        let now = Clock.nanoseconds()
        let (isFirst, begins) = failures.failurePause.withLock { failurePause in
            failures.hasFailurePause.store(true, ordering: .relaxed)
            if failurePause != nil { return (false, failurePause?.extend(error, at: now) ?? false) }
            failurePause = KeyFailurePause(error, at: now, pause: pause)
            return (true, true)
        }
        if isFirst { pool.events.keyFailing(name, because: error.description) }
        return begins
    }

    var hasFailed: Bool { isFailing || failures.failures.load(ordering: .relaxed) != 0 }

    func recovered() {
        failures.failures.store(0, ordering: .relaxed)
        failures.failurePause.withLock { failurePause in
            failurePause = nil
            failures.hasFailurePause.store(false, ordering: .relaxed)
        }
    }

    /// - Throws: why the key fails, unless the caller may try it now.
    func beginTrial() throws(KeyError) {
        // A hung call may never return, so one more trial is necessary; but the other keys need threads too.
        let mayTry = !isHanging || pool.canReplaceThread
        let error = failures.failurePause.withLock { failurePause -> KeyError? in
            if failurePause == nil || (mayTry && failurePause?.beginTrial(at: Clock.nanoseconds()) == true) {
                return nil
            }
            return failurePause?.error
        }
        if let error { throw error }
    }

    func endTrial() {
        failures.failurePause.withLock { $0?.endTrial() }
    }

    /// The operator orders a trial: the next request tries the key, however long its pause still is.
    func endFailurePause() {
        guard isFailing else { return }
        failures.failurePause.withLock { $0?.shorten(at: Clock.nanoseconds()) }
    }
}
