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
        /// Times that have come. A later answer of the database, whose clock may be set, does not undo them.
        var reached: Set<Timestamp> = []
    }

    /// From a decision to its effect, in milliseconds: every gateway reads the decision in this time, or stops signing.
    static let effectMilliseconds: Int64 = 1200

    /// How long requests that selected a key before it changed may still finish with it.
    static let drainTimeout = Duration.seconds(1)

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

    /// The time until a change takes effect. It is never longer than `effectMilliseconds`, so that a step of the database's
    /// clock does not put off a change that this gateway knows.
    func remaining(until effect: Timestamp) -> Duration {
        let steady = milliseconds(.now)
        return state.withLock { state in
            // Before the first answer, the change is in effect: its gateways decided it before this one started.
            guard let offset = state.offset, !state.reached.contains(effect) else { return .zero }
            let seen = state.seen[effect] ?? steady
            let (rest, isTooLong) = effect.milliseconds.subtractingReportingOverflow(offset + steady)
            let latest = Self.effectMilliseconds - (steady - seen)
            let remaining = isTooLong ? latest : min(rest, latest)
            guard remaining <= 0 else {
                state.seen[effect] = seen
                return .milliseconds(remaining)
            }
            state.seen[effect] = nil
            // Changes of long ago are over by any clock.
            if state.reached.count >= 4096 { state.reached = [] }
            state.reached.insert(effect)
            return .zero
        }
    }

    private func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - start).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
