import Synchronization
import TraceContext
public import Tracing

/// A span. If its trace is not sampled, it only propagates its context and records nothing.
public final class OTLPSpan: Span {
    public let context: InstrumentationContext
    private let initialName: String
    private let sink: (any SpanSink)?
    /// Nil if the span is not recorded, and after its end.
    private let record: Mutex<SpanRecord?>

    init(_ context: InstrumentationContext, named name: String, record: SpanRecord?, sink: (any SpanSink)?) {
        self.context = context
        self.initialName = name
        self.sink = sink
        self.record = Mutex(record)
    }

    public var isRecording: Bool { record.withLock { $0 != nil } }

    public var operationName: String {
        get { record.withLock { $0?.name } ?? initialName }
        set { record.withLock { $0?.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { record.withLock { $0?.attributes } ?? [:] }
        set { record.withLock { $0?.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) {
        record.withLock { $0?.status = status }
    }

    public func addEvent(_ event: SpanEvent) {
        record.withLock { $0?.add(event) }
    }

    public func addLink(_ link: SpanLink) {
        record.withLock { $0?.add(link) }
    }

    /// Adds an `exception` event (OpenTelemetry's semantic conventions). Only errors that describe themselves supply a
    /// message: the compiler's default description would show all their values.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.type"] = String(reflecting: type(of: error))
        // Cast through `Any`: where Foundation is visible, the compiler wrongly assumes that the direct cast succeeds.
        if let error = error as Any as? any CustomStringConvertible {
            attributes["exception.message"] = error.description
        }
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Only the first call has an effect.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended = record.withLock { record in
            defer { record = nil }
            return record
        }
        guard let ended else { return }
        sink?.take(FinishedSpan(ended, end: instant().nanosecondsSinceEpoch))
    }
}
