internal import CoreMetrics

/// How large things were. What is not a finite number is left out.
final class ValueHistogram: MetricSeries, RecorderHandler {
    /// Upper bounds of the buckets, rising.
    private let bounds: [Double]
    /// A column for each bucket, and one for what lies above them all.
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
