internal import Logging
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// Opening and watching the lanes.
extension LiveToken {
    /// On the keeper, once.
    func openLanes() throws(KeyError) {
        do throws(KeyError) {
            let count = try connection.sessionLimit(settings.sessions)
            mending.withLock { $0.want(count) }
            pool.want(count)
            pool.fill(to: count)
            try openSessions()
        } catch {
            giveBack(pool.end())
            throw error
        }
        ModuleNeighbours.note(self, isHealthy: true, in: connection.module.path)
    }

    /// Gives each lane without a session a new one. One after the other: tokens stumble when several are opened at
    /// once.
    ///
    /// - Returns: how many lanes have one now that had none.
    @discardableResult
    func openSessions() throws(KeyError) -> Int {
        var count = 0
        for lane in pool.lostLanes {
            keeper.beat()
            do throws(PKCS11Error) {
                let signer = try openSigner()
                if pool.revive(lane, with: signer) { count += 1 } else { discard(signer.session) }
            } catch {
                // Other programs may hold sessions too; fewer than were wished for will do.
                guard error.returnValue == .sessionCount, pool.readyLanes > 0 else {
                    throw error.whileOpening(connection.info.name)
                }
                settle(forLanes: pool.readyLanes)
                return count
            }
        }
        mending.withLock { $0.noteComplete() }
        return count
    }

    /// A new session that has signed.
    private func openSigner() throws(PKCS11Error) -> Signer {
        let signer = Signer(try connection.openSession(), .ecdsa)
        do throws(PKCS11Error) {
            guard try connection.prove(signer) else { throw PKCS11Error(.sign, .keyHandleInvalid) }
            return signer
        } catch {
            discard(signer.session)
            throw error
        }
    }

    /// Until there are more: other programs may give theirs back.
    private func settle(forLanes count: Int) {
        let pause = mending.withLock { $0.settle(for: count) }
        pool.dropLostLanes(because: "The token has no more sessions now.")
        guard let pause else { return }
        log.warning("The token \(connection.info.name) has only \(count) sessions to sign; it is asked for more later")
        keep(after: pause) { [self] in
            mending.withLock { $0.grow() }
            schedule()
        }
    }

    /// Something is in flight: looks for calls that hang until nothing is.
    func watchCalls() {
        watch.run(after: min(max(settings.timeout / 8, 50), 1000)) { [self] in
            let reason = "A call into the token took longer than \(settings.timeout / 1000) s."
            let limit = UInt64(settings.timeout) * 1_000_000
            if pool.setAside(over: limit, because: reason) { watchCalls() }
        }
    }
}
