import AuditKit
import Logging
import SigningKit
import Synchronization

/// The times in which the log is writable and the gateway may not sign nevertheless: too few witnesses have cosigned, or
/// the key states of the fleet are outdated. Each gets an entry, as an outage of the log does.
final class SigningHalt: Sendable {
    private struct State {
        var begun: ContinuousClock.Instant?
        var reason = ""
        var refused = 0

        mutating func begin(_ error: AuditError, _ logger: Logger) {
            reason = error.description
            guard begun == nil else { return }
            logger.critical("Nothing is signed. \(error)")
            begun = .now
        }
    }

    private let state = Mutex(State())
    private let logger = Logger(label: "privyseal.audit")

    /// Counts requests that were refused because of the halt, which may have begun after the last `check`.
    func noteRefused(_ error: AuditError, count: Int) {
        state.withLock { state in
            state.begin(error, logger)
            state.refused += count
        }
    }

    /// Call it about once a second.
    ///
    /// - Parameter error: why nothing may be signed; nil if the gateway may sign.
    /// - Returns: the entry of a halt that has ended.
    func check(_ error: AuditError?) -> AuditEvent? {
        state.withLock { state in
            if let error {
                state.begin(error, logger)
                return nil
            }
            guard let begun = state.begun else { return nil }
            logger.notice("The gateway signs again")
            let event = AuditEvent.outage(
                milliseconds: Int((ContinuousClock.now - begun).milliseconds), reason: state.reason,
                refused: state.refused, lostEvents: 0)
            state = State()
            return event
        }
    }
}
