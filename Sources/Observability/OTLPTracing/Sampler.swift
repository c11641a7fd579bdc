import TraceContext

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
