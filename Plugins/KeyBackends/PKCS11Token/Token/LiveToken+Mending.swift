internal import Logging
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// Brings back what was lost, by measures that grow: a new session, the key found again, one login, and in the end the
/// module initialised again.
extension LiveToken {
    func laneLost(because reason: String, hadSigned: Bool) {
        if hadSigned { mending.withLock { $0.noteLossOfGoodSession() } }
        log.warning("A session of the token \(connection.name) is lost: \(reason)")
        if pool.readyLanes == 0 {
            let isNews = mending.withLock { mending in
                defer { mending.isLost = true }
                return !mending.isLost
            }
            if isNews { record(.lost, because: reason) }
            ModuleNeighbours.note(self, isHealthy: false, in: connection.module.path)
        }
        schedule()
    }

    func keyLost(_ name: String) {
        log.warning("The token \(connection.name) does not know \(name) any more")
        schedule()
    }

    func keyIll(_ name: String, because reason: String) {
        log.warning("The token \(connection.name) signs, but not with \(name): \(reason)")
    }

    /// On the keeper, apart from mending: a key that is ill may have another handle by now.
    func seek(_ key: TokenKey) {
        keep(after: 0) { [self] in
            watchKeeper()
            if mending.withLock({ $0.isOver }) { return }
            connection.seek(key)
            closeDiscarded()
            if !key.isPresent { schedule() }
        }
    }

    /// From any thread.
    func discard(_ session: Session) {
        mending.withLock { $0.discarded.append(session) }
        schedule()
    }

    func schedule() {
        let delay = mending.withLock { mending -> Int? in
            if mending.isScheduled || mending.isOver { return nil }
            mending.isScheduled = true
            return mending.delay(now: Clock.nanoseconds())
        }
        guard let delay else { return }
        keep(after: delay) { [self] in
            watchKeeper()
            attempt()
        }
    }

    private func attempt() {
        let isFirst = mending.withLock { mending in
            mending.isScheduled = false
            defer {
                mending.attempts += 1
                mending.last = Clock.nanoseconds()
            }
            return mending.attempts == 0
        }
        if mending.withLock({ $0.isOver }) { return }
        closeDiscarded()
        guard mustMend else { return }
        do throws(KeyError) {
            do throws(KeyError) {
                try mend()
            } catch {
                if connection.hasNoKey { pool.giveUpIdleLanes() }
                pool.report(outage(error))
                guard !isFirst, try reinitialize(after: error) else { throw error }
                try mend()
            }
            noteBack()
        } catch {
            pool.report(outage(error))
            log.debug("The token \(connection.name) is not back yet: \(error)")
        }
        if lacksLanes || connection.hasNoKey {
            schedule()
        } else if connection.needsSearch {
            searchLater()
        }
    }

    private var mustMend: Bool { lacksLanes || connection.needsSearch }

    private var lacksLanes: Bool {
        let lanes = mending.withLock { $0.lanes }
        return pool.canGrow(to: lanes) || !pool.lostLanes.isEmpty
    }

    /// For a key that is missing beside others that sign. Apart from the other attempts: a session that is lost
    /// meanwhile does not wait for this one.
    private func searchLater() {
        let isNews = mending.withLock { mending in
            defer { mending.isSearching = true }
            return !mending.isSearching
        }
        guard isNews else { return }
        keep(after: Mending.searchPause) { [self] in
            mending.withLock { $0.isSearching = false }
            schedule()
        }
    }

    private func mend() throws(KeyError) {
        pool.fill(to: mending.withLock { $0.lanes })
        try connection.attach()
        if connection.needsSearch { try connection.findKeysAgain() }
        let count: Int
        do throws(KeyError) {
            count = try openSessions()
        } catch {
            // The session may be good and the handle stale.
            guard case .unavailable = error else { throw error }
            try connection.findKeysAgain(all: true)
            count = try openSessions()
        }
        if count > 0 { pool.metrics.noteReconnect() }
    }

    /// - Returns: whether it was done. Not while a lane signs, not for a PIN, and seldom while another token of the
    ///   module is well.
    private func reinitialize(after error: KeyError) throws(KeyError) -> Bool {
        switch error {
        case .unavailable, .notFound, .failed: break
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .ambiguous, .unfit, .busy,
            .cancelled, .closed:
            return false
        }
        let module = connection.module
        guard pool.readyLanes == 0, ModuleNeighbours.mayReinitialize(module.path, for: self) else { return false }
        do throws(PKCS11Error) {
            guard try module.reinitialize(after: module.generation, within: 1000) else { return false }
        } catch {
            throw error.whileOpening(connection.name)
        }
        log.debug("The module \(module.path) was initialised again for the token \(connection.name)")
        return true
    }

    private func noteBack() {
        let wasLost = mending.withLock { mending in
            defer { mending.isLost = false }
            return mending.isLost
        }
        ModuleNeighbours.note(self, isHealthy: true, in: connection.module.path)
        guard wasLost else { return }
        log.notice("The token \(connection.name) is back")
        record(.back)
    }

    /// What callers are told: a token that is gone may come back, so it is unavailable and not missing.
    private func outage(_ error: KeyError) -> KeyError {
        switch error {
        case .loginRefused, .loginBlocked, .secretUnavailable, .unfit, .unavailable:
            if error.concernsLogin, mending.withLock({ $0.attempts == 1 }) {
                log.error("\(error)")
                record(.pinRefused, because: error.description)
            }
            return error
        case .invalidURI, .invalidSetting, .notFound, .ambiguous, .failed, .busy, .cancelled, .closed:
            return .unavailable("The token \(connection.name) is lost. \(error)")
        }
    }

    func closeDiscarded() {
        let former = connection.takeFormerAnchors()
        let sessions = mending.withLock { mending in
            defer { mending.discarded = [] }
            return mending.discarded + former
        }.filter { $0.generation == connection.module.generation }
        guard !sessions.isEmpty else { return }
        // Otherwise a call hangs: its session, and these, are closed when it is back or the module is.
        let areClosed = Session.close(sessions, within: 50)
        mending.withLock { mending in
            // With these gone there may be room for those that the token had none for.
            if areClosed { mending.lanes = mending.wantedLanes } else { mending.discarded += sessions }
        }
    }
}
