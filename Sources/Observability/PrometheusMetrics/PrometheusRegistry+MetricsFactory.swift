public import CoreMetrics

/// | swift-metrics | Prometheus |
/// |---|---|
/// | `Counter`, `FloatingPointCounter` | counter; its name gets `_total` unless it has it |
/// | `Meter`, `Recorder(aggregate: false)`, `Gauge` | gauge |
/// | `Recorder` | histogram |
/// | `Timer` | histogram in seconds; its name gets `_seconds` unless it has it |
extension PrometheusRegistry: MetricsFactory {
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        return series(.histogram, MetricName.sanitized(label), label, dimensions) {
            ValueHistogram(bounds: settings.valueBuckets)
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, MetricName.sanitized(label, suffix: "_seconds"), label, dimensions) { durationHistogram }
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter {
        series(.counter, MetricName.sanitized(label, suffix: "_total"), label, dimensions) { PrometheusCounter() }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        series(.gauge, MetricName.sanitized(label), label, dimensions) { PrometheusGauge() }
    }
}
