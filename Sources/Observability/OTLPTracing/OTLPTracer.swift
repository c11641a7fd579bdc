import Synchronization
public import TraceContext
public import Tracing

/// Makes spans, and propagates traces in the header fields `traceparent` and `tracestate`. Without an exporter it only
/// propagates: an incoming trace goes out again, and its ID is logged.
public struct OTLPTracer: Tracer {
    public typealias Span = OTLPSpan

    private let sampler: Sampler
    private let onEnd: (@Sendable (SpanRecord) -> Void)?

    /// - Parameter exporter: delivers the spans; nil if no endpoint is configured.
    public init(sampler: Sampler, exporter: OTLPExporter?) {
        self.init(sampler: sampler, onEnd: exporter.map { $0.queue.take })
    }

    /// - Parameter onEnd: receives each recorded span when it ends, and returns at once.
    init(sampler: Sampler, onEnd: (@Sendable (SpanRecord) -> Void)?) {
        self.sampler = sampler
        self.onEnd = onEnd
    }

    // MARK: Spans

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> InstrumentationContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.traceContext
        let own = sampler.span(under: parent)
        context.traceContext = own
        let record: SpanRecord? =
            if own.isSampled, onEnd != nil {
                SpanRecord(
                    name: operationName, kind: kind, trace: own, parent: parent?.spanID,
                    start: instant().nanosecondsSinceEpoch)
            } else { nil }
        return OTLPSpan(context, own, named: operationName, record: record, onEnd: onEnd)
    }

    /// Does nothing: `OTLPExporter` decides when it delivers spans.
    public func forceFlush() {}

    // MARK: Header fields

    /// A missing or invalid `traceparent` leaves the context unchanged, so the next span begins a new trace.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let traceparent = extractor.extract(key: "traceparent", from: carrier) else { return }
        let tracestate = extractor.extract(key: "tracestate", from: carrier)
        guard let trace = TraceContext(traceparent: traceparent, tracestate: tracestate) else { return }
        context.traceContext = trace
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
}

/// Decides which traces are recorded: those that the caller records, and a fraction of those that begin here.
public struct Sampler: Sendable {
    /// Traces are recorded if their 56-bit value is below this one.
    private let threshold: UInt64
    private static let bits: UInt64 = 56

    /// - Parameter ratio: the fraction of traces that begin here, clamped to 0...1.
    public init(ratio: Double) {
        let bounded = ratio.isNaN ? 0 : min(max(ratio, 0), 1)
        threshold = UInt64(bounded * Double(1 << Self.bits))
    }

    /// The context of a new span: a child of `parent`, or the first of a new trace.
    func span(under parent: TraceContext?) -> TraceContext { parent?.child() ?? .fresh { samples($0) } }

    /// Uses the last seven bytes of the ID, as other samplers do, so that all systems on a trace decide alike.
    func samples(_ trace: TraceID) -> Bool { trace.low & (1 << Self.bits - 1) < threshold }
}

private enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

extension InstrumentationContext {
    /// The current trace, and the current span in it.
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}

// MARK: Spans

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

    /// Does nothing, like the next two functions: no code of the gateway adds events or links to its spans.
    public func addEvent(_ event: SpanEvent) {}
    public func addLink(_ link: SpanLink) {}
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}

    /// Only the first call has an effect.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard var ended = record.withLock({ $0.take() }) else { return }
        ended.end = instant().nanosecondsSinceEpoch
        onEnd?(ended)
    }
}

/// The data of a span. `OTLPDocument` limits its attributes and texts when it writes the span.
struct SpanRecord: Sendable {
    static let attributeLimit = 64
    /// Unicode scalars in a name or text. The rest is cut off.
    static let textLimit = 1024

    var name: String
    let kind: SpanKind
    let trace: TraceContext
    let parent: SpanID?
    /// Nanoseconds since 1970 in UTC, like `end`.
    let start: UInt64
    var end: UInt64 = 0
    var attributes = SpanAttributes()
    var status: SpanStatus?
}
