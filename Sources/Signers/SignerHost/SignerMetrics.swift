public import CoreMetrics
import SignerProtocol
import Synchronization

/// A backend of swift-metrics that sends counters and timers to the gateway. Other kinds of metrics are not used by key
/// backends.
public final class SignerMetrics: MetricsFactory {
    private let socket: SignerSocket
    private let records = Mutex<[MetricRecord]>([])

    /// Values after which they are sent at once.
    private static let limit = 1024

    init(_ socket: SignerSocket) {
        self.socket = socket
    }

    func flush() {
        let due = records.withLock { records -> [MetricRecord] in
            defer { for index in records.indices { records[index].values.removeAll(keepingCapacity: true) } }
            return records.filter { !$0.values.isEmpty }
        }
        // One message has few values more than `limit`, of at most 20 bytes.
        for record in due { socket.send(SignerNotice.metrics([record]), as: .notice) }
    }

    fileprivate func note(_ value: Int64, at index: Int) {
        let isFull = records.withLock { records in
            records[index].values.append(value)
            return records[index].values.count >= Self.limit
        }
        if isFull { flush() }
    }

    private func makeSeries(
        _ kind: MetricRecord.Kind, _ label: String, _ dimensions: [(String, String)]
    ) -> MetricSeries {
        let flat = dimensions.flatMap { [$0.0, $0.1] }
        let index = records.withLock { records in
            if let index = records.firstIndex(where: { $0.label == label && $0.dimensions == flat }) { return index }
            records.append(MetricRecord(kind, label: label, dimensions: flat))
            return records.count - 1
        }
        return MetricSeries(metrics: self, index: index)
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        makeSeries(.counter, label, dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        makeSeries(.timer, label, dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }

    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}

private final class MetricSeries: CounterHandler, TimerHandler {
    private let metrics: SignerMetrics
    private let index: Int

    init(metrics: SignerMetrics, index: Int) {
        self.metrics = metrics
        self.index = index
    }

    func increment(by amount: Int64) { metrics.note(amount, at: index) }
    func recordNanoseconds(_ duration: Int64) { metrics.note(duration, at: index) }
    func reset() {}
}
