import Synchronization
import TraceContext
public import Tracing

/// A span. One of a trace that is not sampled has a context to hand on, and remembers nothing.
public final class OTLPSpan: Span {
    public let context: InstrumentationContext
    private let initialName: String
    private let sink: (any SpanSink)?
    /// Nil when nothing is recorded, and after the end.
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

    /// An event `exception` (OpenTelemetry's semantic conventions). The message is taken from errors that write one
    /// themselves; the compiler's own description of others would show every value that they hold.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.type"] = String(reflecting: type(of: error))
        // By way of `Any`: a module that sees Foundation is told that the cast of an error always succeeds, which is wrong.
        if let error = error as Any as? any CustomStringConvertible {
            attributes["exception.message"] = error.description
        }
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// The first end counts.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended = record.withLock { record in
            defer { record = nil }
            return record
        }
        guard let ended else { return }
        sink?.take(FinishedSpan(ended, end: instant().nanosecondsSinceEpoch))
    }
}
