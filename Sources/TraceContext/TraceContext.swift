/// Where in which trace something happens, as it travels in the header fields `traceparent` and `tracestate`
/// (W3C Trace Context Level 1, https://www.w3.org/TR/trace-context-1/).
public struct TraceContext: Hashable, Sendable {
    public let traceID: TraceID
    /// Of the span that is the parent of whatever happens in this context.
    public let spanID: SpanID
    public let flags: TraceFlags
    /// What other tracing systems wrote about the trace, as it came. Nil when there was nothing, or nothing valid.
    public let state: String?

    public init(traceID: TraceID, spanID: SpanID, flags: TraceFlags, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags.intersection(.sampled)
        self.state = state
    }

    /// A new trace.
    public static func fresh(sampled: Bool) -> TraceContext {
        fresh { _ in sampled }
    }

    /// A new trace, of which a function of its ID says whether it is recorded.
    public static func fresh(sampledWhere isSampled: (TraceID) -> Bool) -> TraceContext {
        let traceID = TraceID.random()
        return TraceContext(traceID: traceID, spanID: .random(), flags: isSampled(traceID) ? .sampled : [])
    }

    /// The same trace, one span further down.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: .random(), flags: flags, state: state)
    }

    public var isSampled: Bool { flags.contains(.sampled) }
}
