import Logging
import PKCS11
import SigningKit
import Synchronization

/// The maintenance thread of a token, and the state of its supervision.
struct TokenThreads {
    var current: Worker
    /// Earlier maintenance threads whose calls still hang.
    var replaced = 0
    /// Whether the watchdog thread checks the maintenance thread.
    var isWatched = false

    /// With this many hung threads, no new maintenance thread starts.
    static let limit = 3
}

/// If a call of the maintenance thread hangs, a new maintenance thread takes over.
extension PKCS11TokenBackend {
    var maintenanceThread: Worker { threads.withLock { $0.current } }

    /// Runs `body` on the maintenance thread that is current at that time.
    func keep(after milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
        // Hold the lock, so that work for a thread that is being replaced reaches its successor.
        threads.withLock { $0.current.run(after: milliseconds, body) }
    }

    /// Call this first in a job on the maintenance thread. The watchdog thread then checks whether the job hangs.
    func watchMaintenanceThread() {
        if threads.withLock({ $0.isWatched.set() }) { look() }
    }

    private func look() {
        watch.run(after: min(max(settings.timeout / 8, 50), 1000)) { [self] in
            let (maintenanceThread, time) = threads.withLock { threads in
                let time = threads.current.busyFor
                if time == nil { threads.isWatched = false }
                return (threads.current, time)
            }
            guard let time else { return }
            if time > UInt64(settings.timeout) * 1_000_000 { replace(maintenanceThread) }
            look()
        }
    }

    /// Runs on the watchdog thread.
    private func replace(_ maintenanceThread: Worker) {
        let count = threads.withLock { $0.replaced }
        guard count < TokenThreads.limit, !recovery.withLock({ $0.isOver }) else { return }
        log.error(
            "A call to restore the token \(connection.name) took longer than \(settings.timeout / 1000) s",
            metadata: ["hanging": "\(count + 1)", "limit": "\(TokenThreads.limit)"])
        let successor = Worker()
        guard successor.start("privyseal-maint") else { return }
        threads.withLock { threads in
            threads.current = successor
            threads.replaced += 1
        }
        // If the hung call returns, its thread ends, and one more thread may be replaced.
        maintenanceThread.atEnd { [self] in threads.withLock { $0.replaced -= 1 } }
        maintenanceThread.handOver(to: successor)
        schedule()
    }
}

/// Opens the sessions of the signing workers and supervises their calls.
extension PKCS11TokenBackend {
    /// Runs once, on the maintenance thread.
    func openWorkers() throws(KeyError) {
        do throws(KeyError) {
            pool.want(try connection.sessionLimit(settings.sessions))
            try openSessions()
        } catch {
            closeAll(pool.end())
            throw error
        }
        ModuleUsers.note(self, isHealthy: true, in: connection.module.path)
    }

    /// Opens a session for each missing signing worker, one by one: some tokens fail if several are opened at once.
    ///
    /// - Returns: the number of new signing workers.
    @discardableResult
    func openSessions() throws(KeyError) -> Int {
        var count = 0
        for _ in 0..<pool.missingWorkers {
            maintenanceThread.noteProgress()
            do throws(PKCS11Error) {
                let signer = try openSigner()
                if pool.add(signer) { count += 1 } else { discard(signer.session) }
            } catch {
                // Other programs may hold sessions too; fewer sessions than configured are enough.
                guard error.returnValue == .sessionCount, pool.readyWorkers > 0 else {
                    throw error.whileOpening(connection.info.name)
                }
                settle(forWorkers: pool.readyWorkers)
                return count
            }
        }
        if count == 0, pool.readyWorkers == 0, pool.missingWorkers > 0 {
            throw .unavailable("The system has no thread left to sign with the token \(connection.info.name).")
        }
        if pool.hasAllWorkers { recovery.withLock { $0.shortages = 0 } }
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
        pool.dropMissingWorkers(because: "The token has no more sessions now.")
        guard let pause = recovery.withLock({ $0.noteShortage() }) else { return }
        log.warning("The token \(connection.info.name) has only \(count) sessions to sign; more are requested later")
        keep(after: pause) { [self] in
            recovery.withLock { $0.isGrowing = false }
            pool.allowAll()
            schedule()
        }
    }
}
