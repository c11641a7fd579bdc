/// The position in a trace, as the header fields `traceparent` and `tracestate` propagate it (W3C Trace Context Level
/// 1, https://www.w3.org/TR/trace-context-1/).
public struct TraceContext: Hashable, Sendable {
    public let traceID: TraceID
    /// The span that is the parent of all spans in this context.
    public let spanID: SpanID
    public let flags: TraceFlags
    /// The unchanged `tracestate` of other tracing systems; nil if it was absent or invalid.
    public let state: String?

    public init(traceID: TraceID, spanID: SpanID, flags: TraceFlags, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags.intersection(.sampled)
        self.state = state
    }

    public static func fresh(sampled: Bool) -> TraceContext {
        fresh { _ in sampled }
    }

    /// A new trace. A function of its ID decides whether it is recorded.
    public static func fresh(sampledWhere isSampled: (TraceID) -> Bool) -> TraceContext {
        let traceID = TraceID.random()
        return TraceContext(traceID: traceID, spanID: .random(), flags: isSampled(traceID) ? .sampled : [])
    }

    /// A new child span's context in the same trace.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: .random(), flags: flags, state: state)
    }

    public var isSampled: Bool { flags.contains(.sampled) }
}
