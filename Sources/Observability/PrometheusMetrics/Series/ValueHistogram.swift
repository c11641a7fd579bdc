import CoreMetrics

/// A histogram of sizes. It ignores values that are not finite.
final class ValueHistogram: MetricSeries, RecorderHandler {
    /// Upper bounds of the buckets, ascending.
    private let bounds: [Double]
    /// A column for each bucket, and one for values above all bounds.
    private let cells: ShardedCells
    private let sum = AtomicDouble(0)

    init(bounds: [Double]) {
        self.bounds = bounds
        cells = ShardedCells(columns: bounds.count + 1)
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        cells.add(1, row: ShardedCells.row, column: bucket)
        sum.add(value)
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        writer.histogram(
            name, labels, bounds: bounds, counts: (0...bounds.count).map { cells.total($0) }, sum: sum.load())
    }
}
