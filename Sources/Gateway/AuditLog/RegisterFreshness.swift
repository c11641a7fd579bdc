import Synchronization

/// When this gateway last read the key states of its fleet. If that was too long ago, it signs nothing: another gateway
/// may have stopped a key since.
public final class RegisterFreshness: Sendable {
    private struct State {
        var read: ContinuousClock.Instant?
        /// Whether the fleet changes an active key, see `changeLimit`.
        var isChanging = false
        var complaint: String?
        var hasLeft = false
    }

    /// The limit while the fleet changes an active key. It is shorter than the time from the decision to its effect, so
    /// that a gateway that does not know the decision yet has stopped signing by then.
    private static let changeLimit = Duration.milliseconds(500)

    private let limit: Duration
    private let state = Mutex(State())

    public init(limit: Duration) {
        self.limit = limit
    }

    /// - Parameter instant: before the read began.
    package func note(readAt instant: ContinuousClock.Instant, isChanging: Bool) {
        state.withLock { if !$0.hasLeft { $0 = State(read: instant, isChanging: isChanging) } }
    }

    /// Call it before this gateway answers a change.
    package func beginChange() { state.withLock { $0.isChanging = true } }

    /// Call it when this gateway leaves the fleet. A later read changes nothing.
    package func revoke() { state.withLock { $0 = State(hasLeft: true) } }

    /// - Parameter sentence: why the key states could not be read.
    package func note(failure sentence: String) { state.withLock { $0.complaint = sentence } }

    /// Nil while the key states are recent enough.
    package var error: AuditError? {
        state.withLock { state in
            if state.hasLeft { return .halted("This gateway has left the fleet.") }
            let limit = state.isChanging ? min(limit, Self.changeLimit) : limit
            if let read = state.read, ContinuousClock.now - read <= limit { return nil }
            let reason = state.complaint.map { " \($0)" } ?? ""
            return .halted(
                state.read == nil
                    ? "The key states of the fleet have not been read yet.\(reason)"
                    : "The key states of the fleet could not be read for more than \(limit).\(reason)")
        }
    }
}
