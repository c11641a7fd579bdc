import Logging
import Metrics
public import ServiceLifecycle
public import SigningKit
import Synchronization

/// Compares the wall clock with the monotonic clock: when their difference changes, the wall clock was set.
///
/// A time service that slews the clock changes the rate of both on Linux (clock_gettime(2)), so that is no step.
public final class ClockMonitor: Service {
    /// Smaller differences are not reported: reading two clocks takes time.
    private static let smallest: Int64 = 1000
    private static let interval = Duration.seconds(1)

    private let now: @Sendable () -> Timestamp
    private let uptime: @Sendable () -> Duration
    private let report: @Sendable (ClockStep) -> Void
    /// Wall clock minus monotonic clock at the start, in milliseconds.
    private let initial: Int64
    /// The same, as of the last step.
    private let known: Mutex<Int64>
    private let steps = Counter(label: "privyseal_clock_steps_total")
    private let logger = Logger(label: "privyseal.clock")

    /// - Parameters:
    ///   - now: the wall clock.
    ///   - uptime: the monotonic clock; nil for the one of the system.
    ///   - report: is told each step, besides the log and the metric.
    public init(
        now: @escaping @Sendable () -> Timestamp = GrantIssuer.systemTime, uptime: (@Sendable () -> Duration)? = nil,
        report: @escaping @Sendable (ClockStep) -> Void = { _ in }
    ) {
        let begun = ContinuousClock.now
        self.now = now
        self.uptime = uptime ?? { .now - begun }
        self.report = report
        initial = now().milliseconds - self.uptime().milliseconds
        known = Mutex(initial)
        // From now on it is there to be watched, before anything has gone wrong.
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

    /// Reports a step that happened since the last look. Cheap enough for each entry.
    func check() {
        let before = uptime()
        let wall = now()
        let elapsed = uptime()
        // Between the two, the thread may have had to wait.
        guard elapsed - before < .milliseconds(100) else { return }
        let difference = wall.milliseconds - elapsed.milliseconds
        let step = known.withLock { known -> ClockStep? in
            guard abs(difference - known) >= Self.smallest else { return nil }
            defer { known = difference }
            return ClockStep(before: Timestamp(milliseconds: known + elapsed.milliseconds), after: wall)
        }
        if let step { tell(step) }
    }

    /// Reports that the wall clock shows an earlier time than an entry that is in the log already.
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

    /// How far the wall clock is from where it would be without the steps since the start.
    public var offset: Duration { .milliseconds(now().milliseconds - uptime().milliseconds - initial) }

    /// The time for what ends for good, such as the overlap of a retiring key: the earlier one of the wall clock, and of the wall
    /// clock without the steps since the start. So no step ends anything too early.
    var deadlineTime: Timestamp {
        let steady = initial + uptime().milliseconds
        return min(now(), Timestamp(milliseconds: steady))
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension Timestamp {
    fileprivate var text: String { String(decoding: rfc3339, as: UTF8.self) }
}
