internal import Logging
internal import SigningKit
internal import Synchronization

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
        let isFirst = threads.withLock { threads in
            defer { threads.isWatched = true }
            return !threads.isWatched
        }
        if isFirst { look() }
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
