public import TraceContext

/// Records what becomes of requests, for those who follow them through several services.
public protocol RequestTracing: Sendable {
    /// A span for one request, from its header to its answer.
    ///
    /// - Parameter parent: what the caller's `traceparent` said; nil where a trace begins here.
    func begin(under parent: TraceContext?) -> any RequestSpan
}

public protocol RequestSpan: Sendable {
    /// Of the span itself: what the answer's `traceparent` says.
    var trace: TraceContext { get }

    /// Spans that are made by `body` are children of this one.
    func contain<Result>(_ body: () async throws -> Result) async rethrows -> Result

    func end(_ record: AccessRecord)
}
