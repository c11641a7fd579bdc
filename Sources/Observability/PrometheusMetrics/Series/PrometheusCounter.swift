import CoreMetrics

/// A number that only increases. It ignores amounts that are zero, negative or not finite.
final class PrometheusCounter: MetricSeries, CounterHandler, FloatingPointCounterHandler {
    private let whole = ShardedCells(columns: 1)
    /// The sum of floating-point increments, which few counters have.
    private let fractions = AtomicDouble(0)

    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        whole.add(amount, row: ShardedCells.row, column: 0)
    }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        fractions.add(amount)
    }

    func reset() {
        whole.reset()
        fractions.store(0)
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        let fraction = fractions.load()
        if fraction == 0 {
            writer.sample(name, labels, whole.total(0))
        } else {
            writer.sample(name, labels, Double(whole.total(0)) + fraction)
        }
    }
}
