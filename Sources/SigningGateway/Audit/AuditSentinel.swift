import Dispatch
import Foundation
import Logging
import SigningKit

/// Refuses whoever waits for a write that takes too long. On a thread of its own: what hangs may be anything else.
final class AuditSentinel: Sendable {
    /// Callers are refused so much later than the limit at most.
    private static let pause = Duration.milliseconds(100)

    private let queue: AuditQueue
    private let limit: Duration
    private let end = DispatchSemaphore(value: 0)
    private let logger = Logger(label: "privyseal.audit")

    init(_ queue: AuditQueue, limit: Duration) {
        self.queue = queue
        self.limit = limit
    }

    func start() {
        let thread = Thread { [self] in
            ThreadName.set("privyseal-guard")
            while end.wait(timeout: .now() + Self.pause.dispatch) == .timedOut {
                if queue.refuseOverdue(limit) { logger.critical("Nothing is signed: \(AuditError.overdue(limit))") }
            }
        }
        thread.start()
    }

    func stop() { end.signal() }
}
