import Logging
import Metrics
public import ServiceLifecycle
public import SigningKit
import Synchronization

/// Compares the wall clock with the monotonic clock. A change of their difference is a step of the wall clock.
///
/// A time service that slews the clock changes the rate of both clocks on Linux (clock_gettime(2)). That is not a step.
public final class ClockMonitor: Service {
    /// The smallest step to report, in milliseconds: reading two clocks takes time.
    private static let smallest: Int64 = 1000
    private static let interval = Duration.seconds(1)

    private let now: @Sendable () -> Timestamp
    private let uptime: @Sendable () -> Duration
    private let report: @Sendable (ClockStep) -> Void
    /// Wall clock minus monotonic clock at the start, in milliseconds.
    private let initial: Int64
    /// The same difference after the last step.
    private let known: Mutex<Int64>
    private let steps = Counter(label: "privyseal_clock_steps_total")
    private let logger = Logger(label: "privyseal.clock")

    /// - Parameters:
    ///   - uptime: the monotonic clock; nil for `ContinuousClock`.
    ///   - report: called for each step, in addition to the log line and the metric.
    public init(
        now: @escaping @Sendable () -> Timestamp = Timestamp.now, uptime: (@Sendable () -> Duration)? = nil,
        report: @escaping @Sendable (ClockStep) -> Void = { _ in }
    ) {
        let begun = ContinuousClock.now
        self.now = now
        self.uptime = uptime ?? { .now - begun }
        self.report = report
        initial = now().milliseconds - self.uptime().milliseconds
        known = Mutex(initial)
        // Export the counter as 0, so that alerts can see its first increment.
        steps.increment(by: 0)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.check()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Reports a step since the last check. It is cheap enough for each entry.
    func check() {
        let before = uptime()
        let wall = now()
        let elapsed = uptime()
        // The thread may have been suspended between the readings.
        guard elapsed - before < .milliseconds(100) else { return }
        let difference = wall.milliseconds - elapsed.milliseconds
        let step = known.withLock { known -> ClockStep? in
            guard abs(difference - known) >= Self.smallest else { return nil }
            defer { known = difference }
            return ClockStep(before: Timestamp(milliseconds: known + elapsed.milliseconds), after: wall)
        }
        if let step { tell(step) }
    }

    /// Reports a step if the wall clock is earlier than an entry in the log.
    func compare(withEntryAt time: Timestamp) {
        let wall = now()
        guard time.milliseconds - wall.milliseconds >= Self.smallest else { return }
        tell(ClockStep(before: time, after: wall))
    }

    private func tell(_ step: ClockStep) {
        steps.increment()
        logger.critical(
            "The clock of this machine was set \(step.text). Find out who or what set it; see \"The clock\" in docs/operations.md.",
            metadata: ["before": "\(step.before.text)", "after": "\(step.after.text)"])
        report(step)
    }

    /// How far the steps since the start have moved the wall clock.
    public var offset: Duration { .milliseconds(offsetMilliseconds) }

    private var offsetMilliseconds: Int64 { now().milliseconds - uptime().milliseconds - initial }

    /// The offset for a deadline that is set now, in milliseconds. It is 0 if there was no step.
    package var stepped: Int64 {
        let offset = offsetMilliseconds
        return offset.magnitude < Self.smallest.magnitude ? 0 : offset
    }

    package func isOver(_ deadline: Deadline) -> Bool { remaining(until: deadline) <= .zero }

    /// The time until a deadline by the monotonic clock, so that a step of the wall clock does not move the deadline.
    ///
    /// A deadline of an earlier process has no offset, and the wall clock may have been wrong when this process
    /// started. It is over when the wall clock has reached it, with and without the steps since the start.
    package func remaining(until deadline: Deadline) -> Duration {
        let steady = initial + uptime().milliseconds
        let reached = if let stepped = deadline.stepped { steady + stepped } else { min(now().milliseconds, steady) }
        let (difference, isTooLong) = deadline.time.milliseconds.subtractingReportingOverflow(reached)
        return .milliseconds(isTooLong ? Int64.max : difference)
    }
}

/// A step of the wall clock: it differs from the time that the monotonic clock predicts.
public struct ClockStep: Equatable, Sendable {
    /// The wall clock without the step.
    public let before: Timestamp
    /// The wall clock after the step.
    public let after: Timestamp

    /// Negative if the clock was set back.
    public var milliseconds: Int64 { after.milliseconds - before.milliseconds }

    /// For messages: "90061.0 s forward".
    var text: String {
        let amount = milliseconds.magnitude
        return "\(amount / 1000).\((amount % 1000) / 100) s \(milliseconds < 0 ? "back" : "forward")"
    }
}

/// A time at which a state ends permanently, such as the overlap of a retiring key.
package struct Deadline: Hashable, Sendable {
    package let time: Timestamp
    /// `ClockMonitor.stepped` when the deadline was set, in milliseconds. Nil for a deadline of an earlier process.
    let stepped: Int64?

    package init(time: Timestamp, stepped: Int64?) {
        self.time = time
        self.stepped = stepped
    }
}
