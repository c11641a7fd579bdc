import Synchronization
public import TraceContext
public import Tracing

/// A span. If its trace is not sampled, it only propagates its context and records nothing.
public final class OTLPSpan: Span {
    public let context: InstrumentationContext
    /// The span's own position in the trace, which is also in `context`.
    public let trace: TraceContext
    private let initialName: String
    private let onEnd: (@Sendable (SpanRecord) -> Void)?
    /// Nil if the span is not recorded, and after its end.
    private let record: Mutex<SpanRecord?>

    init(
        _ context: InstrumentationContext, _ trace: TraceContext, named name: String, record: SpanRecord?,
        onEnd: (@Sendable (SpanRecord) -> Void)?
    ) {
        self.context = context
        self.trace = trace
        initialName = name
        self.onEnd = onEnd
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

    public func setStatus(_ status: SpanStatus) { record.withLock { $0?.status = status } }

    public func addEvent(_ event: SpanEvent) { record.withLock { $0?.add(event) } }

    /// Does nothing: a request has one parent, and no code of the gateway links spans.
    public func addLink(_ link: SpanLink) {}

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
        guard var ended = record.withLock({ $0.take() }) else { return }
        ended.end = instant().nanosecondsSinceEpoch
        onEnd?(ended)
    }
}

/// The data of a span. `OTLPDocument` limits its attributes and texts when it writes the span.
struct SpanRecord: Sendable {
    private static let eventLimit = 32

    var name: String
    let kind: SpanKind
    let trace: TraceContext
    let parent: SpanID?
    /// Nanoseconds since 1970 in UTC, like `end`.
    let start: UInt64
    var end: UInt64 = 0
    var attributes = SpanAttributes()
    private(set) var events: [SpanEvent] = []
    /// The number of events beyond the limit.
    private(set) var droppedEvents = 0
    var status: SpanStatus?

    init(name: String, kind: SpanKind, trace: TraceContext, parent: SpanID?, start: UInt64) {
        self.name = name
        self.kind = kind
        self.trace = trace
        self.parent = parent
        self.start = start
    }

    mutating func add(_ event: SpanEvent) {
        if events.count < Self.eventLimit { events.append(event) } else { droppedEvents += 1 }
    }
}
