internal import CoreMetrics

/// How long things took. Nanoseconds come in, seconds go out.
final class DurationHistogram: MetricSeries, TimerHandler {
    /// Upper bounds of the buckets, in nanoseconds, rising.
    private let bounds: [Int64]
    /// A column for each bucket, one for what lies above them all, and one for the sum in nanoseconds, which has room
    /// for 292 years.
    private let cells: ShardedCells

    init(bounds: [Int64]) {
        self.bounds = bounds
        cells = ShardedCells(columns: bounds.count + 2)
    }

    /// - Parameter duration: in nanoseconds; below zero, as from a clock that was set, it counts as zero.
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
