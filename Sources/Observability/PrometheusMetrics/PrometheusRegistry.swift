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
        /// Upper bounds of aggregating recorders' buckets, ascending.
        public var valueBuckets = Settings.values

        public init() {}

        /// From 50 µs, for a key in memory, to 10 s, the longest call into a token.
        public static let durations: [Double] = [
            0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
        ]
        /// For counts and sizes.
        public static let values: [Double] = [
            1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
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
/// | `Meter`, `Recorder(aggregate: false)`, `Gauge` | gauge |
/// | `Recorder` | histogram |
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
        guard aggregate else { return gauge(label, dimensions) }
        return series(.histogram, MetricName.sanitized(label), label, dimensions) {
            PrometheusRecorder(bounds: settings.valueBuckets)
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, MetricName.sanitized(label, suffix: "_seconds"), label, dimensions) {
            PrometheusTimer(bounds: settings.durationBuckets)
        }
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

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

    /// Removes a series. Its holder can continue to use it, but it is no longer exposed.
    private func forget(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                state.families[name]?.series[labels] = nil
                return
            }
        }
    }
}
