internal import CoreMetrics
internal import Synchronization

/// Keeps a program's metrics, and tells them to a Prometheus server that asks.
///
/// The program gives it to swift-metrics once, before anything makes a metric: `MetricsSystem.bootstrap(registry)`. Who
/// makes a metric again by the same name and the same dimensions, in whatever order, gets the same one. To make one
/// takes a lock and some memory, to raise one takes neither: make it once and keep it.
///
/// Values of dimensions come from outside now and then; so a name has a bounded number of series. Names, and the names
/// of dimensions, come from the program and are not bounded.
public final class PrometheusRegistry: Sendable {
    public struct Settings: Sendable {
        /// Series of one name. What asks for more shares a series in which each dimension's value is `other`.
        public var seriesLimit = 2000
        /// Upper bounds of timers' buckets, in seconds, rising.
        public var durationBuckets = Settings.durations
        /// Upper bounds of aggregating recorders' buckets, rising.
        public var valueBuckets = Settings.values

        public init() {}

        /// 50 µs, which a key in memory takes, to 10 s, which a call into a token may take.
        public static let durations: [Double] = [
            0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
        ]
        /// For counts and sizes.
        public static let values: [Double] = [
            1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
        ]
    }

    let settings: Settings
    private let durationBounds: [Int64]
    private let state: Mutex<State>
    private let dropped = PrometheusCounter()

    struct State {
        var families: [String: MetricFamily] = [:]
        /// By name; these go before the catalogue.
        var help: [String: String] = [:]
        var collectors: [@Sendable () async -> Void] = []
    }

    /// - Parameter catalogue: gives help for metrics by name.
    public init(settings: Settings = Settings(), catalogue: [MetricDescription] = MetricCatalogue.all) {
        self.settings = settings
        durationBounds = settings.durationBuckets.map(DurationHistogram.nanoseconds)
        var state = State()
        for metric in catalogue { state.help[metric.name] = metric.help }
        state.families[Self.droppedName] = MetricFamily(
            kind: .counter, label: Self.droppedName, series: [LabelSet.none: dropped])
        self.state = Mutex(state)
    }

    // MARK: What is asked for

    /// Says what a metric means. Whoever makes a metric that the catalogue does not have should say it.
    ///
    /// - Parameters:
    ///   - label: as for swift-metrics.
    ///   - help: one sentence, with the unit.
    public func describe(_ label: String, help: String) {
        let name = MetricName.sanitized(label)
        state.withLock { $0.help[name] = help }
    }

    /// Runs `collect` before each exposition by `scrape()`, in the order in which they were given: for gauges that say
    /// how things are now. It should tell what is known, and wait for nothing.
    public func onScrape(_ collect: @escaping @Sendable () async -> Void) {
        state.withLock { $0.collectors.append(collect) }
    }

    /// Sets all series of a gauge at once. Those that are not among them are gone: what they were about is gone, too.
    public func replaceGauges(_ label: String, with series: [(dimensions: [(String, String)], value: Double)]) {
        let name = MetricName.sanitized(label)
        let fresh = series.map { (LabelSet($0.dimensions), $0.value) }
        state.withLock { state in
            var family = state.families[name] ?? MetricFamily(kind: .gauge, label: label)
            guard family.kind == .gauge else { return dropped.increment(by: 1 as Int64) }
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

    // MARK: What is told

    /// Runs the collectors, and gives the exposition.
    ///
    /// - Returns: text format 0.0.4, as UTF-8; see `contentType`.
    public func scrape() async -> [UInt8] {
        for collect in state.withLock({ $0.collectors }) { await collect() }
        return exposition()
    }

    /// What is known now, without the collectors: text format 0.0.4. Names and label sets are in the order of their
    /// bytes.
    public func exposition() -> [UInt8] {
        let (families, help) = state.withLock { ($0.families, $0.help) }
        var writer = ExpositionWriter()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
            writer.begin(name, family.kind, help: help[name] ?? "Of swift-metrics, by the label \(family.label).")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(name, labels, to: &writer)
            }
        }
        return writer.bytes
    }

    /// Of an answer that holds an exposition.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Says that the bound on series was met.
    private static let droppedName = "privyseal_metrics_dropped_series_total"
}

// MARK: Making and taking back

extension PrometheusRegistry {
    var durationHistogram: DurationHistogram { DurationHistogram(bounds: durationBounds) }

    /// The series that is there, or a new one. One that cannot be told, because its name is that of a metric of another
    /// kind, works and is not kept.
    func series<Series: MetricSeries>(
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
                dropped.increment(by: 1 as Int64)
                return fresh
            }
            state.families[name, default: family].series[labels] = fresh
            return fresh
        }
    }

    /// The label set under which a series may be kept: its own, or the one for all that are too many.
    private func admitted(_ labels: LabelSet, to family: MetricFamily) -> LabelSet {
        if family.series[labels] != nil || family.series.count < settings.seriesLimit { return labels }
        dropped.increment(by: 1 as Int64)
        return labels.folded
    }

    /// Forgets a series. Whoever still holds it may go on; nobody hears of that.
    func forget(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                state.families[name]?.series[labels] = nil
                return
            }
        }
    }
}
