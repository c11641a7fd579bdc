import Logging
import SigningKit

/// Refuses the calls that wait for a write that takes too long. It has its own thread, because any other one may hang.
final class WriteTimeoutMonitor: Sendable {
    /// The time between two checks, so the maximum delay of a refusal after the limit.
    private static let pause = Duration.milliseconds(100)

    private let queue: AuditQueue
    private let limit: Duration
    private let end = Semaphore()
    private let logger = Logger(label: "privyseal.audit")

    init(_ queue: AuditQueue, limit: Duration) {
        self.queue = queue
        self.limit = limit
    }

    func start() {
        SystemThread.start("privyseal-timer") { [self] in
            while !end.wait(atMost: Self.pause) {
                if queue.refuseOverdue(limit) { logger.critical("Nothing is signed: \(AuditError.overdue(limit))") }
            }
        }
    }

    func stop() { end.signal() }
}
