import AuditKit
import AuditLog
import SigningKit
import Synchronization

/// The clock of the fleet's database, as this gateway knows it. Every gateway reads it several times a second, so that
/// gateways whose own clocks differ change their keys at the same time.
final class FleetClock: Sendable {
    private struct State {
        /// The database's time minus that of the monotonic clock, in milliseconds.
        var offset: Int64?
        /// When changes apply to requests of this gateway, by the monotonic clock, in milliseconds. It is fixed when the
        /// gateway sees the change, so that a later reading of the database's clock does not undo a change.
        var due: [Timestamp: Int64] = [:]
        var hasServed = false
    }

    /// From a decision to its effect, in milliseconds: every gateway reads the decision in this time, or stops signing.
    static let effectMilliseconds: Int64 = 1200
    /// How long requests that selected a key before it changed may still finish with it.
    static let drainTimeout = Duration.seconds(1)
    /// A reading that took longer says too little about the time.
    private static let longestReading = Duration.milliseconds(200)
    /// A change that a starting gateway sees so long after its effect is not in progress any more, in milliseconds.
    private static let settled: Int64 = 15_000
    /// The same for a gateway that has signed since: it may have signed with the state before.
    private static let forgotten: Int64 = 3_600_000

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    func note(_ view: FleetView) {
        let middle = (milliseconds(view.asked) + milliseconds(view.answered)) / 2
        let isPrecise = view.answered - view.asked <= Self.longestReading
        state.withLock { state in
            if isPrecise || state.offset == nil { state.offset = view.time.milliseconds - middle }
        }
    }

    /// Nil before the first answer of the database.
    var now: Timestamp? {
        let steady = milliseconds(.now)
        return state.withLock { $0.offset }.map { Timestamp(milliseconds: $0 + steady) }
    }

    func isOver(_ time: Timestamp) -> Bool { now.map { time <= $0 } ?? false }

    /// The time until a change applies to requests of this gateway. It is never longer than `effectMilliseconds`, so that a
    /// step of the database's clock does not put a change off. For a change that the gateway sees late, it is at least
    /// the time in which the gateways that have not seen the change stop signing.
    func remaining(until effect: Timestamp) -> Duration {
        let steady = milliseconds(.now)
        return state.withLock { state in
            // Before the first answer, the change is in effect: its gateways decided it before this one started.
            guard let offset = state.offset else { return .zero }
            let due = state.due[effect] ?? steady + Self.wait(effect, offset + steady, hasServed: state.hasServed)
            if state.due.count >= 4096 { state.due = [:] }
            state.due[effect] = due
            return .milliseconds(max(0, due - steady))
        }
    }

    /// - Returns: milliseconds.
    private static func wait(_ effect: Timestamp, _ now: Int64, hasServed: Bool) -> Int64 {
        let (rest, isTooLong) = effect.milliseconds.subtractingReportingOverflow(now)
        guard !isTooLong else { return effect.milliseconds < now ? 0 : effectMilliseconds }
        let isOld = rest < (hasServed ? -forgotten : -settled)
        return isOld ? 0 : min(effectMilliseconds, max(changeMilliseconds, rest))
    }

    /// Makes a change apply now. The caller keeps requests away until then.
    func end(_ effect: Timestamp) {
        let steady = milliseconds(.now)
        state.withLock { $0.due[effect] = steady }
    }

    /// Call it when this gateway may sign with the states that it has read.
    func noteServing() { state.withLock { $0.hasServed = true } }

    /// The limit of `RegisterFreshness` during a change.
    static let changeMilliseconds: Int64 = 500

    private func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        (instant - start).milliseconds
    }
}
