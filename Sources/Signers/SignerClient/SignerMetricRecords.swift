import Metrics
import SignerProtocol
import Synchronization

/// Adds the values of metrics in signer processes to the gateway's metrics of the same names. A module may send any records,
/// so only metrics of tokens are accepted, and a limited number for each signer.
enum SignerMetricRecords {
    private enum Metric {
        case counter(Counter)
        case timer(Timer)
    }

    private struct Key: Hashable {
        let label: String
        let dimensions: [String]
    }

    /// By the name of the signer.
    private static let metrics = Mutex<[String: [Key: Metric]]>([:])
    /// Of a signer. Backends have three metrics for each token.
    private static let limit = 300
    /// In bytes, of a name or value of a dimension.
    private static let longestText = 200

    static func record(_ records: [MetricRecord], of signer: String) {
        for record in records {
            switch metric(of: record, signer) {
            case .counter(let counter): for value in record.values where value >= 0 { counter.increment(by: value) }
            case .timer(let timer): for value in record.values { timer.recordNanoseconds(max(0, value)) }
            case nil: break
            }
        }
    }

    private static func metric(of record: MetricRecord, _ signer: String) -> Metric? {
        metrics.withLock { metrics in
            let key = Key(label: record.label, dimensions: record.dimensions)
            if let metric = metrics[signer]?[key] { return metric }
            guard metrics[signer, default: [:]].count < limit, record.label.hasPrefix("privyseal_token_"),
                record.dimensions.count.isMultiple(of: 2),
                ([record.label] + record.dimensions).allSatisfy({ $0.utf8.count <= longestText })
            else { return nil }
            let dimensions = stride(from: 0, to: record.dimensions.count, by: 2).map {
                (record.dimensions[$0], record.dimensions[$0 + 1])
            }
            let metric: Metric =
                switch record.kind {
                case .counter: .counter(Counter(label: record.label, dimensions: dimensions))
                case .timer: .timer(Timer(label: record.label, dimensions: dimensions))
                }
            metrics[signer, default: [:]][key] = metric
            return metric
        }
    }
}
