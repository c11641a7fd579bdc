import AuditKit
import Logging
import Synchronization

/// The times in which the log is writable and the gateway may not sign nevertheless: too few witnesses have cosigned, or
/// the key states of the fleet are outdated. Each gets an entry, as an outage of the log does.
final class SigningHalt: Sendable {
    private struct State {
        var begun: ContinuousClock.Instant?
        var reason = ""
        var refused = 0
    }

    private let state = Mutex(State())
    private let logger = Logger(label: "privyseal.audit")

    /// Counts a request that was refused because of the halt.
    func noteRefused() { state.withLock { $0.refused += 1 } }

    /// Call it about once a second.
    ///
    /// - Parameter error: why nothing may be signed; nil if the gateway may sign.
    /// - Returns: the entry of a halt that has ended.
    func check(_ error: AuditError?) -> AuditEvent? {
        state.withLock { state in
            if let error {
                if state.begun == nil {
                    logger.critical("Nothing is signed. \(error)")
                    state.begun = .now
                }
                state.reason = error.description
                return nil
            }
            guard let begun = state.begun else { return nil }
            logger.notice("The gateway signs again")
            let (seconds, attoseconds) = (ContinuousClock.now - begun).components
            let event = AuditEvent.outage(
                milliseconds: Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000), reason: state.reason,
                refused: state.refused, lostEvents: 0)
            state = State()
            return event
        }
    }
}
