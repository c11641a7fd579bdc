import TraceContext
public import Tracing

/// Makes spans, and propagates traces in the header fields `traceparent` and `tracestate`. Without an exporter it only
/// propagates: an incoming trace goes out again, and its ID is logged.
public struct OTLPTracer: Tracer {
    public typealias Span = OTLPSpan

    private let sampler: Sampler
    private let sink: (any SpanSink)?

    /// - Parameter exporter: delivers the spans; nil if no endpoint is configured.
    public init(sampler: Sampler, exporter: OTLPExporter?) {
        self.init(sampler: sampler, sink: exporter?.queue)
    }

    init(sampler: Sampler, sink: (any SpanSink)?) {
        self.sampler = sampler
        self.sink = sink
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
        let isRecorded = own.isSampled && sink != nil
        let record =
            isRecorded
            ? SpanRecord(
                name: operationName, kind: kind, context: own, parent: parent?.spanID,
                start: instant().nanosecondsSinceEpoch)
            : nil
        return OTLPSpan(context, named: operationName, record: record, sink: sink)
    }

    /// Does nothing: `OTLPExporter` decides when it delivers spans.
    public func forceFlush() {}

    // MARK: Header fields

    /// A missing or invalid `traceparent` leaves the context unchanged, so the next span begins a new trace.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let traceparent = extractor.extract(key: Self.traceparent, from: carrier) else { return }
        let tracestate = extractor.extract(key: Self.tracestate, from: carrier)
        guard let trace = TraceContext(traceparent: traceparent, tracestate: tracestate) else { return }
        context.traceContext = trace
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext else { return }
        injector.inject(trace.traceparent, forKey: Self.traceparent, into: &carrier)
        if let state = trace.tracestate { injector.inject(state, forKey: Self.tracestate, into: &carrier) }
    }

    private static let traceparent = "traceparent"
    private static let tracestate = "tracestate"
}
