import CoreMetrics

final class PrometheusGauge: MetricSeries, MeterHandler, RecorderHandler {
    private let value = AtomicDouble(0)

    func set(_ value: Int64) { self.value.store(Double(value)) }
    func set(_ value: Double) { self.value.store(value) }
    func increment(by amount: Double) { value.add(amount) }
    func decrement(by amount: Double) { value.add(-amount) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        writer.sample(name, labels, value.load())
    }
}
