import CoreMetrics
import Synchronization

/// One series: the line of a counter or gauge, or the lines of a histogram.
protocol MetricSeries: AnyObject, Sendable {
    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter)
}

/// A number that only increases. It ignores amounts that are zero, negative or not finite. Counts are exact up to 2⁵³.
final class PrometheusCounter: MetricSeries, CounterHandler, FloatingPointCounterHandler {
    private let total = Mutex(0.0)

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        total.withLock { $0 += amount }
    }

    func reset() { total.withLock { $0 = 0 } }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        writer.sample(name, labels, total.withLock { $0 })
    }
}

final class PrometheusGauge: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        writer.sample(name, labels, value.withLock { $0 })
    }
}

/// A histogram of durations, which it receives in nanoseconds and reports in seconds, or of other numbers. It ignores
/// values that are not finite.
final class PrometheusHistogram: MetricSeries, TimerHandler, RecorderHandler {
    /// Upper bounds of the buckets as reported, ascending.
    private let bounds: [Double]
    /// The same in the unit of the recorded values.
    private let limits: [Double]
    /// Recorded values for each reported one.
    private let scale: Double
    private let state: Mutex<State>

    private struct State {
        /// For each bucket, and last for the values above all bounds.
        var counts: [Int64]
        var sum = 0.0
    }

    /// - Parameters:
    ///   - bounds: in seconds for durations.
    ///   - isOfDurations: whether `recordNanoseconds` is called, not `record`.
    init(bounds: [Double], isOfDurations: Bool = false) {
        self.bounds = bounds
        limits = isOfDurations ? bounds.map { ($0 * 1e9).rounded() } : bounds
        scale = isOfDurations ? 1e9 : 1
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// - Parameter duration: a negative one, as after a clock step, counts as zero.
    func recordNanoseconds(_ duration: Int64) { record(Double(max(duration, 0))) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        var bucket = 0
        while bucket < limits.count, value > limits[bucket] { bucket += 1 }
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        let state = state.withLock { $0 }
        writer.histogram(name, labels, bounds: bounds, counts: state.counts, sum: state.sum / scale)
    }
}
