import Logging
import PKCS11
import SigningKit
import Synchronization

/// Restores lost sessions and keys. The measures escalate: a new session, a key search, a login, a new initialisation.
extension PKCS11TokenBackend {
    func workerLost(because reason: String, hadSigned: Bool) {
        if hadSigned { recovery.withLock { $0.noteLossOfGoodSession() } }
        log.warning("A session of the token \(connection.name) is lost: \(reason)")
        if pool.readyWorkers == 0 {
            if recovery.withLock({ $0.isLost.set() }) { record(.lost, because: reason) }
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
            guard !recovery.isOver, recovery.isScheduled.set() else { return nil }
            return recovery.delay(now: MonotonicTime.nanoseconds())
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
                recovery.last = MonotonicTime.nanoseconds()
            }
            return recovery.attempts == 0
        }
        if recovery.withLock({ $0.isOver }) { return }
        closeDiscarded()
        guard pool.missingWorkers > 0 || connection.needsSearch else { return }
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
        if pool.missingWorkers > 0 || connection.hasNoKey {
            schedule()
        } else if connection.needsSearch {
            searchLater()
        }
    }

    /// For a missing key while other keys sign. Its delay is separate, so that a lost session does not wait for it.
    private func searchLater() {
        guard recovery.withLock({ $0.isSearching.set() }) else { return }
        keep(after: TokenRecovery.searchPause) { [self] in
            recovery.withLock { $0.isSearching = false }
            schedule()
        }
    }

    private func recover() throws(KeyError) {
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
        pool.allowAll()
    }
}

extension Bool {
    /// - Returns: whether it was false before.
    mutating func set() -> Bool {
        defer { self = true }
        return !self
    }
}

struct TokenRecovery {
    /// Consecutive times that the token had too few sessions.
    var shortages = 0
    /// Whether a request for more sessions is scheduled.
    var isGrowing = false
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
    mutating func noteLossOfGoodSession() { attempts = min(attempts, 1) }

    /// Records that the token has too few sessions now.
    ///
    /// - Returns: milliseconds until the next request for more: 1,000, 2,000, 4,000 … 60,000; nil if one is scheduled.
    mutating func noteShortage() -> Int? {
        guard isGrowing.set() else { return nil }
        defer { shortages += 1 }
        return min(1000 << min(shortages, 10), 60_000)
    }
}

/// The backends that sign with each module. They limit how often the recovery of another token re-initialises it.
enum ModuleUsers {
    private struct Module {
        var healthy: Set<ObjectIdentifier> = []
        /// Time of the last re-initialisation, in nanoseconds; 0 for never.
        var reinitialized: UInt64 = 0
        var pause = shortest
    }

    private static let modules = Mutex<[String: Module]>([:])
    /// The pause between two re-initialisations while another backend signs: 30 s to 1 h, in nanoseconds.
    private static let shortest: UInt64 = 30_000_000_000
    private static let longest: UInt64 = 3_600_000_000_000

    static func note(_ backend: AnyObject, isHealthy: Bool, in module: String) {
        let backend = ObjectIdentifier(backend)
        modules.withLock { modules in
            if isHealthy {
                modules[module, default: Module()].healthy.insert(backend)
            } else {
                modules[module]?.healthy.remove(backend)
            }
        }
    }

    /// Whether `backend` may re-initialise the module now. If so, this also records the re-initialisation.
    static func mayReinitialize(
        _ module: String, for backend: AnyObject, now: UInt64 = MonotonicTime.nanoseconds()
    ) -> Bool {
        modules.withLock { modules in
            var state = modules[module, default: Module()]
            let others = state.healthy.subtracting([ObjectIdentifier(backend)])
            guard others.isEmpty || state.reinitialized == 0 || now >= state.reinitialized + state.pause else {
                return false
            }
            // Doubles after each re-initialisation that disturbs another backend.
            state.pause = !others.isEmpty && state.reinitialized != 0 ? min(2 * state.pause, longest) : shortest
            state.reinitialized = now
            modules[module] = state
            return true
        }
    }
}
