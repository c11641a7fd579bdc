import SigningKit
import Synchronization

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
    var isHanging: Bool { failures.hanging.load(ordering: .relaxed) > 0 }

    /// Records that a request failed twice, in good sessions.
    func failed(_ error: KeyError) {
        let failures = failures.failures.add(1, ordering: .relaxed).newValue
        if isFailing || failures >= KeyFailureHistory.limit { beganToFail(error) }
    }

    /// Records that the key does not sign although its token does.
    func beganToFail(_ error: KeyError) {
        // The key may have a new handle.
        if noteFailure(error, pause: KeyFailurePause.shortest) { pool.backend?.seek(self) }
    }

    /// Records that a call with the key hangs. There is no search for the key, which may hang as well.
    func beganToHang(_ error: KeyError) {
        failures.hanging.add(1, ordering: .relaxed)
        _ = noteFailure(error, pause: KeyFailurePause.shortestAfterHang)
    }

    func hangEnded() { failures.hanging.subtract(1, ordering: .relaxed) }

    /// - Returns: whether a pause begins or becomes longer.
    private func noteFailure(_ error: KeyError, pause: UInt64) -> Bool {
        let now = MonotonicTime.nanoseconds()
        let (isFirst, begins) = failures.failurePause.withLock { failurePause in
            failures.hasFailurePause.store(true, ordering: .relaxed)
            guard var former = failurePause else {
                failurePause = KeyFailurePause(error: error, pause: pause, until: now + pause)
                return (true, true)
            }
            former.error = error
            // Requests that waited when the key began to fail do not extend the pause.
            if former.isTried {
                former.pause = min(2 * former.pause, KeyFailurePause.longest)
                former.until = now + former.pause
            }
            failurePause = former
            return (false, former.isTried)
        }
        if isFirst { pool.backend?.keyFailing(name, because: error.description) }
        return begins
    }

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
            guard let pause = failurePause else { return nil }
            guard mayTry, !pause.isTried, MonotonicTime.nanoseconds() >= pause.until else { return pause.error }
            failurePause?.isTried = true
            return nil
        }
        if let error { throw error }
    }

    func endTrial() { failures.failurePause.withLock { $0?.isTried = false } }

    /// The operator orders a trial: the next request tries the key, however long its pause still is.
    func endFailurePause() {
        guard isFailing else { return }
        let now = MonotonicTime.nanoseconds()
        failures.failurePause.withLock { failurePause in
            guard let pause = failurePause else { return }
            failurePause?.until = min(pause.until, now)
            failurePause?.pause = min(pause.pause, KeyFailurePause.shortest)
        }
    }
}

/// The pause of a key that does not sign although its token does, so that it costs the other keys no sessions. After
/// the pause, one request tries the key again.
struct KeyFailurePause {
    var error: KeyError
    /// In nanoseconds.
    var pause: UInt64
    var until: UInt64
    /// Whether a request tries the key now. Other requests are refused until its end.
    var isTried = false

    /// 100, 200, 400 ms … 60 s.
    static let shortest: UInt64 = 100_000_000
    /// The first pause after a call that hung: each trial may block a session for as long as that call.
    static let shortestAfterHang: UInt64 = 1_000_000_000
    static let longest: UInt64 = 60_000_000_000
}
