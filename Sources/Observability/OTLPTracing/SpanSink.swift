/// Receives spans that have ended.
protocol SpanSink: Sendable {
    /// Returns at once, even if the span is dropped.
    func take(_ span: FinishedSpan)
}
