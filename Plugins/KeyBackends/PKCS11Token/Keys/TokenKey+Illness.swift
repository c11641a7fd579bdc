internal import SigningKit
internal import Synchronization

/// What is known of a key's failures, so that a key that does not sign leaves the token's sessions to the others.
struct KeyTrouble: ~Copyable {
    let illness = Mutex<KeyIllness?>(nil)
    /// Whether there is an illness; so that a signature takes no lock.
    let hasIllness = Atomic<Bool>(false)
    /// Requests in a row that failed although the session was good.
    let failures = Atomic<Int>(0)
    /// Calls with the key that hang.
    let hanging = Atomic<Int>(0)

    /// So many requests in a row have to fail: single failures of a token that is overloaded are chance.
    static let limit = 5
}

extension TokenKey {
    var isIll: Bool { trouble.hasIllness.load(ordering: .relaxed) }

    /// Whether a call with it hangs.
    var isHanging: Bool { trouble.hanging.load(ordering: .relaxed) > 0 }

    /// Why the key is left alone; nil when it is not.
    var illnessError: KeyError? { isIll ? trouble.illness.withLock { $0?.error } : nil }

    /// From any thread: a request failed twice, on sessions that are good.
    func failed(_ error: KeyError) {
        let failures = trouble.failures.add(1, ordering: .relaxed).newValue
        if isIll || failures >= KeyTrouble.limit { fellIll(error) }
    }

    /// From any thread: it does not sign, while its token does.
    func fellIll(_ error: KeyError) {
        // It may have another handle by now.
        if noteIllness(error, pause: KeyIllness.shortest) { pool.events.seek(self) }
    }

    /// From any thread: a call with it hangs. It is not sought, because that may hang as well.
    func beganToHang(_ error: KeyError) {
        trouble.hanging.add(1, ordering: .relaxed)
        _ = noteIllness(error, pause: KeyIllness.shortestAfterHang)
    }

    /// From any thread: a call that hung came back.
    func endedToHang() {
        trouble.hanging.subtract(1, ordering: .relaxed)
    }

    /// - Returns: whether a pause begins.
    private func noteIllness(_ error: KeyError, pause: UInt64) -> Bool {
        let now = Clock.nanoseconds()
        let (isNews, begins) = trouble.illness.withLock { illness in
            trouble.hasIllness.store(true, ordering: .relaxed)
            if illness != nil { return (false, illness?.extend(error, at: now) ?? false) }
            illness = KeyIllness(error, at: now, pause: pause)
            return (true, true)
        }
        if isNews { pool.events.keyIll(name, because: error.description) }
        return begins
    }

    /// Whether `recovered` has something to do.
    var hasFailed: Bool { isIll || trouble.failures.load(ordering: .relaxed) != 0 }

    /// From any thread: it signed.
    func recovered() {
        trouble.failures.store(0, ordering: .relaxed)
        trouble.illness.withLock { illness in
            illness = nil
            trouble.hasIllness.store(false, ordering: .relaxed)
        }
    }

    /// - Throws: why the key is ill, unless the caller may try it now.
    func beginTrial() throws(KeyError) {
        // A call that hangs may hang for ever, so that one more has to be tried; but the other keys need threads too.
        let mayTry = !isHanging || pool.canReplaceThread
        let error = trouble.illness.withLock { illness -> KeyError? in
            if illness == nil || (mayTry && illness?.beginTrial(at: Clock.nanoseconds()) == true) { return nil }
            return illness?.error
        }
        if let error { throw error }
    }

    func endTrial() {
        trouble.illness.withLock { $0?.endTrial() }
    }

    /// A person asks for it: the next request tries the key, however long its pause would last.
    func tryAgain() {
        guard isIll else { return }
        trouble.illness.withLock { $0?.shorten(at: Clock.nanoseconds()) }
    }
}
