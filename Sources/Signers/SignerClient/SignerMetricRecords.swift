import Metrics
import SignerProtocol
import Synchronization

/// Adds the values of metrics in signer processes to the gateway's metrics of the same names.
enum SignerMetricRecords {
    private enum Metric {
        case counter(Counter)
        case timer(Timer)
    }

    private struct Key: Hashable {
        let label: String
        let dimensions: [String]
    }

    private static let metrics = Mutex<[Key: Metric]>([:])
    /// Backends have three metrics for each token.
    private static let limit = 1000

    static func record(_ records: [MetricRecord]) {
        for record in records {
            switch metric(of: record) {
            case .counter(let counter): for value in record.values where value >= 0 { counter.increment(by: value) }
            case .timer(let timer): for value in record.values { timer.recordNanoseconds(max(0, value)) }
            case nil: break
            }
        }
    }

    private static func metric(of record: MetricRecord) -> Metric? {
        metrics.withLock { metrics in
            let key = Key(label: record.label, dimensions: record.dimensions)
            if let metric = metrics[key] { return metric }
            // A signer must not invent metrics.
            guard metrics.count < limit, record.label.hasPrefix("privyseal_"), record.dimensions.count.isMultiple(of: 2)
            else { return nil }
            let dimensions = stride(from: 0, to: record.dimensions.count, by: 2).map {
                (record.dimensions[$0], record.dimensions[$0 + 1])
            }
            let metric: Metric =
                switch record.kind {
                case .counter: .counter(Counter(label: record.label, dimensions: dimensions))
                case .timer: .timer(Timer(label: record.label, dimensions: dimensions))
                }
            metrics[key] = metric
            return metric
        }
    }
}
