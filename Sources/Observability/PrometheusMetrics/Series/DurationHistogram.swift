import CoreMetrics

/// A histogram of durations. It receives nanoseconds and reports seconds.
final class DurationHistogram: MetricSeries, TimerHandler {
    /// Upper bounds of the buckets, in nanoseconds, ascending.
    private let bounds: [Int64]
    /// Columns: the buckets, the values above all bounds, and the sum in nanoseconds, enough for 292 years.
    private let cells: ShardedCells

    init(bounds: [Int64]) {
        self.bounds = bounds
        cells = ShardedCells(columns: bounds.count + 2)
    }

    /// - Parameter duration: in nanoseconds. A negative one, as after a clock step, counts as zero.
    func recordNanoseconds(_ duration: Int64) {
        let duration = max(duration, 0)
        let row = ShardedCells.row
        var bucket = 0
        while bucket < bounds.count, duration > bounds[bucket] { bucket += 1 }
        cells.add(1, row: row, column: bucket)
        cells.add(duration, row: row, column: bounds.count + 1)
    }

    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter) {
        writer.histogram(
            name, labels, bounds: bounds.map { Double($0) / 1e9 },
            counts: (0...bounds.count).map { cells.total($0) }, sum: Double(cells.total(bounds.count + 1)) / 1e9)
    }

    static func nanoseconds(_ seconds: Double) -> Int64 {
        Int64(exactly: (seconds * 1e9).rounded()) ?? .max
    }
}
