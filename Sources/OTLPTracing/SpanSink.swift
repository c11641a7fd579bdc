/// Takes spans that have ended.
protocol SpanSink: Sendable {
    /// Returns at once, whatever becomes of the span.
    func take(_ span: FinishedSpan)
}
