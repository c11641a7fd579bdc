internal import Logging
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// Opens the sessions of the signing workers and supervises their calls.
extension PKCS11TokenBackend {
    /// Runs once, on the maintenance thread.
    func openWorkers() throws(KeyError) {
        do throws(KeyError) {
            let count = try connection.sessionLimit(settings.sessions)
            recovery.withLock { $0.want(count) }
            pool.want(count)
            pool.fill(to: count)
            try openSessions()
        } catch {
            closeAll(pool.end())
            throw error
        }
        ModuleUsers.note(self, isHealthy: true, in: connection.module.path)
    }

    /// Opens a session for each signing worker without one, one by one: some tokens fail if several are opened at once.
    ///
    /// - Returns: the number of signing workers that received a session.
    @discardableResult
    func openSessions() throws(KeyError) -> Int {
        var count = 0
        for worker in pool.lostWorkers {
            maintenanceThread.noteProgress()
            do throws(PKCS11Error) {
                let signer = try openSigner()
                if pool.attachSession(worker, with: signer) { count += 1 } else { discard(signer.session) }
            } catch {
                // Other programs may hold sessions too; fewer sessions than configured are enough.
                guard error.returnValue == .sessionCount, pool.readyWorkers > 0 else {
                    throw error.whileOpening(connection.info.name)
                }
                settle(forWorkers: pool.readyWorkers)
                return count
            }
        }
        recovery.withLock { $0.noteComplete() }
        return count
    }

    /// A new session that passed `TokenConnection.prove`.
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

    /// Continues with fewer sessions and asks for more later, because other programs may close theirs.
    private func settle(forWorkers count: Int) {
        let pause = recovery.withLock { $0.settle(for: count) }
        pool.dropLostWorkers(because: "The token has no more sessions now.")
        guard let pause else { return }
        log.warning("The token \(connection.info.name) has only \(count) sessions to sign; more are requested later")
        keep(after: pause) { [self] in
            recovery.withLock { $0.grow() }
            schedule()
        }
    }

    func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe { connection.probe(signer, except: key) }

    /// Looks for calls that hang, repeatedly while the pool has jobs.
    func watchCalls() {
        watch.run(after: min(max(settings.timeout / 8, 50), 1000)) { [self] in
            let reason = "A call into the token took longer than \(settings.timeout / 1000) s."
            let limit = UInt64(settings.timeout) * 1_000_000
            if pool.removeHung(over: limit, because: reason) { watchCalls() }
        }
    }
}
