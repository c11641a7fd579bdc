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

/// A histogram of durations. It receives nanoseconds and reports seconds.
final class PrometheusTimer: MetricSeries, TimerHandler {
    private let histogram: Histogram

    /// - Parameter bounds: upper bounds of the buckets in seconds, ascending.
    init(bounds: [Double]) {
        histogram = Histogram(bounds: bounds.map { ($0 * 1e9).rounded() })
    }

    /// - Parameter duration: a negative one, as after a clock step, counts as zero.
    func recordNanoseconds(_ duration: Int64) { histogram.record(Double(max(duration, 0))) }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        histogram.write(name, labels, dividedBy: 1e9, to: &writer)
    }
}

/// A histogram of sizes. It ignores values that are not finite.
final class PrometheusRecorder: MetricSeries, RecorderHandler {
    private let histogram: Histogram

    /// - Parameter bounds: upper bounds of the buckets, ascending.
    init(bounds: [Double]) {
        histogram = Histogram(bounds: bounds)
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        if value.isFinite { histogram.record(value) }
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        histogram.write(name, labels, dividedBy: 1, to: &writer)
    }
}

private struct Histogram: ~Copyable, Sendable {
    private let bounds: [Double]
    private let state: Mutex<State>

    private struct State {
        /// For each bucket, and last for the values above all bounds.
        var counts: [Int64]
        var sum = 0.0
    }

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    borrowing func record(_ value: Double) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    borrowing func write(
        _ name: String, _ labels: LabelSet, dividedBy scale: Double, to writer: inout ExpositionWriter
    ) {
        let state = state.withLock { $0 }
        writer.histogram(
            name, labels, bounds: bounds.map { $0 / scale }, counts: state.counts, sum: state.sum / scale)
    }
}
