internal import Logging
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// Restores lost sessions and keys. The measures escalate: a new session, a key search, a login, a new initialisation.
extension PKCS11TokenBackend {
    func workerLost(because reason: String, hadSigned: Bool) {
        if hadSigned { recovery.withLock { $0.noteLossOfGoodSession() } }
        log.warning("A session of the token \(connection.name) is lost: \(reason)")
        if pool.readyWorkers == 0 {
            let isFirst = recovery.withLock { recovery in
                defer { recovery.isLost = true }
                return !recovery.isLost
            }
            if isFirst { record(.lost, because: reason) }
            ModuleUsers.note(self, isHealthy: false, in: connection.module.path)
        }
        schedule()
    }

    func keyLost(_ name: String) {
        log.warning("The token \(connection.name) no longer has \(name)")
        schedule()
    }

    func keyFailing(_ name: String, because reason: String) {
        log.warning("The token \(connection.name) signs, but not with \(name): \(reason)")
    }

    /// Searches on the maintenance thread, independently of token recovery: a failing key may have a new handle.
    func seek(_ key: TokenKey) {
        keep(after: 0) { [self] in
            watchMaintenanceThread()
            if recovery.withLock({ $0.isOver }) { return }
            connection.seek(key)
            closeDiscarded()
            if !key.isPresent { schedule() }
        }
    }

    /// Any thread may call this. The maintenance thread closes the session when no call is in flight.
    func discard(_ session: Session) {
        session.abandon()
        schedule()
    }

    func schedule() {
        let delay = recovery.withLock { recovery -> Int? in
            if recovery.isScheduled || recovery.isOver { return nil }
            recovery.isScheduled = true
            return recovery.delay(now: Clock.nanoseconds())
        }
        guard let delay else { return }
        keep(after: delay) { [self] in
            watchMaintenanceThread()
            attempt()
        }
    }

    private func attempt() {
        let isFirst = recovery.withLock { recovery in
            recovery.isScheduled = false
            defer {
                recovery.attempts += 1
                recovery.last = Clock.nanoseconds()
            }
            return recovery.attempts == 0
        }
        if recovery.withLock({ $0.isOver }) { return }
        closeDiscarded()
        guard mustRecover else { return }
        do throws(KeyError) {
            do throws(KeyError) {
                try recover()
            } catch {
                if connection.hasNoKey { pool.closeIdleWorkers() }
                pool.report(outage(error))
                guard !isFirst, try reinitialize(after: error) else { throw error }
                try recover()
            }
            noteRecovered()
        } catch {
            pool.report(outage(error))
            log.debug("The token \(connection.name) is not back yet: \(error)")
        }
        if lacksWorkers || connection.hasNoKey {
            schedule()
        } else if connection.needsSearch {
            searchLater()
        }
    }

    private var mustRecover: Bool { lacksWorkers || connection.needsSearch }

    private var lacksWorkers: Bool {
        let workers = recovery.withLock { $0.workers }
        return pool.canGrow(to: workers) || !pool.lostWorkers.isEmpty
    }

    /// For a missing key while other keys sign. Its delay is separate, so that a lost session does not wait for it.
    private func searchLater() {
        let isFirst = recovery.withLock { recovery in
            defer { recovery.isSearching = true }
            return !recovery.isSearching
        }
        guard isFirst else { return }
        keep(after: TokenRecovery.searchPause) { [self] in
            recovery.withLock { $0.isSearching = false }
            schedule()
        }
    }

    private func recover() throws(KeyError) {
        pool.fill(to: recovery.withLock { $0.workers })
        try connection.attach()
        if connection.needsSearch { try connection.findKeysAgain() }
        let count: Int
        do throws(KeyError) {
            count = try openSessions()
        } catch {
            // The session may be good and the key handle stale.
            guard case .unavailable = error else { throw error }
            try connection.findKeysAgain(all: true)
            count = try openSessions()
        }
        if count > 0 { pool.metrics.noteReconnect() }
    }

    /// - Returns: whether the module was initialised again. False while a signing worker has a session and after a PIN
    ///   error. While another token of the module signs, `ModuleUsers` limits how often it happens.
    private func reinitialize(after error: KeyError) throws(KeyError) -> Bool {
        switch error {
        case .unavailable, .notFound, .failed: break
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .ambiguous, .unfit, .busy,
            .cancelled, .closed:
            return false
        }
        let module = connection.module
        guard pool.readyWorkers == 0, ModuleUsers.mayReinitialize(module.path, for: self) else { return false }
        do throws(PKCS11Error) {
            guard try module.reinitialize(after: module.generation, within: 1000) else { return false }
        } catch {
            throw error.whileOpening(connection.name)
        }
        log.debug("The module \(module.path) was initialised again for the token \(connection.name)")
        return true
    }

    private func noteRecovered() {
        let wasLost = recovery.withLock { recovery in
            defer { recovery.isLost = false }
            return recovery.isLost
        }
        ModuleUsers.note(self, isHealthy: true, in: connection.module.path)
        guard wasLost else { return }
        log.notice("The token \(connection.name) is back")
        record(.back)
    }

    /// The error for callers. A lost token may return, so `notFound` becomes `unavailable`.
    private func outage(_ error: KeyError) -> KeyError {
        switch error {
        case .loginRefused, .loginBlocked, .secretUnavailable, .unfit, .unavailable:
            if error.concernsLogin, recovery.withLock({ $0.attempts == 1 }) {
                log.error("\(error)")
                record(.loginRefused, because: error.description)
            }
            return error
        case .invalidURI, .invalidSetting, .notFound, .ambiguous, .failed, .busy, .cancelled, .closed:
            return .unavailable("The token \(connection.name) is lost. \(error)")
        }
    }

    func closeDiscarded() {
        // If a call hangs, nothing is closed now. The sessions are closed after that call returns, or with the module.
        guard connection.module.closeAbandoned(within: 50) == true else { return }
        // The token may now have sessions for the missing signing workers.
        recovery.withLock { $0.workers = $0.wantedWorkers }
    }
}

struct TokenRecovery {
    private(set) var wantedWorkers = 0
    /// Signing workers for which the token has sessions, as far as is known.
    var workers = 0
    /// Consecutive times that the token had too few sessions.
    private var shortages = 0
    /// Whether a request for more sessions is scheduled.
    private var isGrowing = false
    var isScheduled = false
    /// Whether a search for a missing key is scheduled.
    var isSearching = false
    /// Attempts since the last interval of `peace` without one.
    var attempts = 0
    /// Time of the last attempt, in nanoseconds.
    var last: UInt64 = 0
    var isLost = false
    /// Whether the token has been closed.
    var isOver = false

    /// Between searches for a missing key while others sign, in milliseconds.
    static let searchPause = 2000
    /// After this time without an attempt, the delay starts again at 0; in nanoseconds.
    private static let quietInterval: UInt64 = 5_000_000_000

    /// Milliseconds until the next attempt: 0, then 100, 200, 400 … 5,000.
    mutating func delay(now: UInt64) -> Int {
        if now > last + Self.quietInterval, !isLost { attempts = 0 }
        return attempts == 0 ? 0 : min(100 << min(attempts - 1, 10), 5000)
    }

    /// A session was lost after it had signed: the measure that helped before may help again at once.
    mutating func noteLossOfGoodSession() {
        attempts = min(attempts, 1)
    }

    mutating func want(_ count: Int) {
        (wantedWorkers, workers) = (count, count)
    }

    /// Records that the token has too few sessions now.
    ///
    /// - Returns: milliseconds until the next request for more: 1,000, 2,000, 4,000 … 60,000; nil if one is scheduled.
    mutating func settle(for count: Int) -> Int? {
        workers = count
        guard !isGrowing else { return nil }
        isGrowing = true
        defer { shortages += 1 }
        return min(1000 << min(shortages, 10), 60_000)
    }

    mutating func grow() {
        isGrowing = false
        workers = wantedWorkers
    }

    /// Call this when every signing worker has a session.
    mutating func noteComplete() {
        if workers == wantedWorkers { shortages = 0 }
    }
}
