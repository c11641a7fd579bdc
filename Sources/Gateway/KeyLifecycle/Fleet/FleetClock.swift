import SigningKit
import Synchronization

/// The clock of the fleet's database, as this gateway knows it. Every gateway reads it several times a second, so that
/// gateways whose own clocks differ change their keys at the same time.
final class FleetClock: Sendable {
    private struct State {
        /// The database's time minus that of the monotonic clock, in milliseconds.
        var offset: Int64?
        /// When this gateway first saw a time of effect, by the monotonic clock, in milliseconds.
        var seen: [Timestamp: Int64] = [:]
    }

    /// From a decision to its effect: every gateway reads the decision in this time, or stops signing.
    static let effectMilliseconds: Int64 = 1200
    private static let effectDelay = Duration.milliseconds(effectMilliseconds)

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Parameters:
    ///   - time: the database's time.
    ///   - begun: before the database was asked.
    func note(_ time: Timestamp, askedAt begun: ContinuousClock.Instant) {
        let middle = (milliseconds(begun) + milliseconds(.now)) / 2
        state.withLock { $0.offset = time.milliseconds - middle }
    }

    /// Nil before the first answer of the database.
    var now: Timestamp? {
        let steady = milliseconds(.now)
        return state.withLock { $0.offset }.map { Timestamp(milliseconds: $0 + steady) }
    }

    /// The time until a change takes effect. It is never longer than `effectDelay`, so that a step of the database's
    /// clock does not put off a change that this gateway knows.
    func remaining(until effect: Timestamp) -> Duration {
        let steady = milliseconds(.now)
        return state.withLock { state in
            // Before the first answer, the change is in effect: its gateways decided it before this one started.
            guard let offset = state.offset else { return .zero }
            let (rest, isTooLong) = effect.milliseconds.subtractingReportingOverflow(offset + steady)
            guard isTooLong || rest > 0 else {
                state.seen[effect] = nil
                return .zero
            }
            let seen = state.seen[effect] ?? steady
            state.seen[effect] = seen
            let latest = Self.effectDelay - .milliseconds(steady - seen)
            return max(.zero, isTooLong ? latest : min(.milliseconds(rest), latest))
        }
    }

    private func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - start).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
