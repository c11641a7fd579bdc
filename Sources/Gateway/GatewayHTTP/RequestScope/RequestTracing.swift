public import TraceContext

/// Records a span for each request, from its head to its answer, for distributed tracing.
public protocol RequestTracing: Sendable {
    /// - Parameter parent: the caller's `traceparent`; nil if the trace begins here.
    func begin(under parent: TraceContext?) -> any RequestSpan
}

public protocol RequestSpan: Sendable {
    /// The span's own context, for the answer's `traceparent`.
    var trace: TraceContext { get }

    /// Spans that `body` creates are children of this one.
    func contain<Result>(_ body: () async throws -> Result) async rethrows -> Result

    func end(_ record: AccessRecord)
}
