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
    func span(under parent: TraceContext?) -> TraceContext {
        parent?.child() ?? .fresh { samples($0) }
    }

    /// Uses the last seven bytes of the ID, as other samplers do, so that all systems on a trace decide alike.
    func samples(_ trace: TraceID) -> Bool {
        trace.low & (1 << Self.bits - 1) < threshold
    }
}

private enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "w3c-trace-context" }
}

extension InstrumentationContext {
    /// The current trace, and the current span in it.
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
