public import CoreMetrics
import Synchronization

/// Holds a program's metrics for a Prometheus server.
///
/// The program passes it to swift-metrics once, before any code makes a metric: `MetricsSystem.bootstrap(registry)`.
/// Equal names and dimensions, in any order, give the same metric. Making a metric takes a lock and memory,
/// incrementing it takes only a short lock: make it once and keep it.
///
/// Dimension values may come from outside, so the number of series of a name is bounded. Names, and the names of
/// dimensions, come from the program and are not bounded.
public final class PrometheusRegistry: Sendable {
    public struct Settings: Sendable {
        /// The largest number of series of one name. Further ones share a series whose values are all `other`.
        public var seriesLimit = 2000
        /// Upper bounds of timers' buckets, in seconds, ascending.
        public var durationBuckets = Settings.durations

        public init() {}

        /// From 50 µs, for a key in memory, to 10 s, the longest call into a token.
        public static let durations: [Double] = [
            0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
        ]
    }

    private let settings: Settings
    private let state: Mutex<State>
    private let dropped = PrometheusCounter()

    private struct MetricFamily {
        let kind: MetricKind
        /// The name of the first request, before it is sanitised.
        let label: String
        var series: [LabelSet: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: MetricFamily] = [:]
        /// Help texts by metric name.
        var help: [String: String] = [:]
        var collectors: [@Sendable () async -> Void] = []
    }

    /// - Parameter catalogue: help texts by metric name.
    public init(settings: Settings = Settings(), catalogue: [MetricDescription] = MetricCatalogue.all) {
        self.settings = settings
        var state = State()
        for metric in catalogue { state.help[metric.name] = metric.help }
        state.families[Self.droppedName] = MetricFamily(
            kind: .counter, label: Self.droppedName, series: [LabelSet.none: dropped])
        self.state = Mutex(state)
    }

    // MARK: Metrics

    /// Runs `collect` before each `scrape()`, in order of registration. It sets gauges to known values without waiting.
    public func onScrape(_ collect: @escaping @Sendable () async -> Void) {
        state.withLock { $0.collectors.append(collect) }
    }

    /// Sets all series of a gauge at once. It removes other series, because their subjects no longer exist.
    public func replaceGauges(_ label: String, with series: [(dimensions: [(String, String)], value: Double)]) {
        let name = MetricName.sanitized(label)
        let fresh = series.map { (LabelSet($0.dimensions), $0.value) }
        state.withLock { state in
            var family = state.families[name] ?? MetricFamily(kind: .gauge, label: label)
            guard family.kind == .gauge else { return dropped.increment(by: 1.0) }
            let old = family.series
            family.series = [:]
            for (labels, value) in fresh {
                let labels = admitted(labels, to: family)
                let gauge = old[labels] as? PrometheusGauge ?? PrometheusGauge()
                gauge.set(value)
                family.series[labels] = gauge
            }
            state.families[name] = family
        }
    }

    // MARK: Exposition

    /// Runs the collectors and returns the exposition: text format 0.0.4, as UTF-8.
    public func scrape() async -> [UInt8] {
        for collect in state.withLock({ $0.collectors }) { await collect() }
        return exposition()
    }

    /// The current values in text format 0.0.4, without the collectors. Names and label sets are sorted by bytes.
    public func exposition() -> [UInt8] {
        let (families, help) = state.withLock { ($0.families, $0.help) }
        var writer = ExpositionWriter()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
            writer.begin(name, family.kind, help: help[name] ?? "From swift-metrics, by the label \(family.label).")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(name, labels, to: &writer)
            }
        }
        return writer.bytes
    }

    /// Counts series that were refused, because of the limit or because the name has another kind.
    private static let droppedName = "privyseal_metrics_dropped_series_total"
}

// MARK: The factory of swift-metrics

/// | swift-metrics | Prometheus |
/// |---|---|
/// | `Counter`, `FloatingPointCounter` | counter; its name gets `_total` unless it has it |
/// | `Meter`, `Gauge`, `Recorder` | gauge |
/// | `Timer` | histogram in seconds; its name gets `_seconds` unless it has it |
extension PrometheusRegistry: MetricsFactory {
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        gauge(label, dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, MetricName.sanitized(label, suffix: "_seconds"), label, dimensions) {
            PrometheusTimer(bounds: settings.durationBuckets)
        }
    }

    // The program keeps its metrics until it ends, so a metric that is destroyed stays in the exposition.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter {
        series(.counter, MetricName.sanitized(label, suffix: "_total"), label, dimensions) { PrometheusCounter() }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        series(.gauge, MetricName.sanitized(label), label, dimensions) { PrometheusGauge() }
    }
}

// MARK: Series

extension PrometheusRegistry {
    /// The existing series, or a new one, which works but is not exposed if the name has a metric of another kind.
    private func series<Series: MetricSeries>(
        _ kind: MetricKind, _ name: String, _ label: String, _ dimensions: [(String, String)],
        _ make: () -> Series
    ) -> Series {
        let asked = LabelSet(dimensions)
        return state.withLock { state in
            let family = state.families[name] ?? MetricFamily(kind: kind, label: label)
            let labels = admitted(asked, to: family)
            if let known = family.series[labels] as? Series, family.kind == kind { return known }
            let fresh = make()
            guard family.kind == kind, family.series[labels] == nil else {
                dropped.increment(by: 1.0)
                return fresh
            }
            state.families[name, default: family].series[labels] = fresh
            return fresh
        }
    }

    /// The label set under which a series may be kept: its own, or that of the shared series beyond the limit.
    private func admitted(_ labels: LabelSet, to family: MetricFamily) -> LabelSet {
        if family.series[labels] != nil || family.series.count < settings.seriesLimit { return labels }
        dropped.increment(by: 1.0)
        return labels.overflowLabels
    }
}

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
    private let bounds: [Double]
    private let state: Mutex<State>

    private struct State {
        /// For each bucket, and last for the values above all bounds.
        var counts: [Int64]
        var sum = 0.0
    }

    /// - Parameter bounds: upper bounds of the buckets in seconds, ascending.
    init(bounds: [Double]) {
        self.bounds = bounds.map { ($0 * 1e9).rounded() }
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// - Parameter duration: a negative one, as after a clock step, counts as zero.
    func recordNanoseconds(_ duration: Int64) {
        let value = Double(max(duration, 0))
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        let state = state.withLock { $0 }
        writer.histogram(name, labels, bounds: bounds.map { $0 / 1e9 }, counts: state.counts, sum: state.sum / 1e9)
    }
}
