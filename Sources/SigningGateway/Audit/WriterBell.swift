import Dispatch
import Synchronization

/// Wakes the writer's thread, once for each time that it sleeps.
final class WriterBell: Sendable {
    /// What it wants to be woken for.
    enum Cause {
        case anything
        /// A whole group only.
        case group
    }

    private let sleeper = Mutex<Cause?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Sleeps, unless what it would be woken for is there already.
    func wait(atMost limit: Duration, for cause: Cause, unless isThere: () -> Bool) {
        // In this order, so that nobody can ring unheard in between.
        sleeper.withLock { $0 = cause }
        if !isThere(), semaphore.wait(timeout: .now() + limit.dispatch) == .success { return }
        let hasRung = sleeper.withLock { sleeper in
            defer { sleeper = nil }
            return sleeper == nil
        }
        // The next sleep must not end with that.
        if hasRung { semaphore.wait() }
    }

    /// Nothing when it is awake: it looks for itself before it sleeps again.
    ///
    /// - Parameter cause: what there is.
    func ring(for cause: Cause = .group) {
        let mustWake = sleeper.withLock { sleeper in
            guard let wanted = sleeper, wanted == .anything || cause == .group else { return false }
            sleeper = nil
            return true
        }
        if mustWake { semaphore.signal() }
    }
}
