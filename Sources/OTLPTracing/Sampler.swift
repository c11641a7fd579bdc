import TraceContext

/// Which traces are recorded: those whose caller records them, and of those that begin here a fraction.
public struct Sampler: Sendable {
    /// Of the 56 bits that are looked at, those below are recorded.
    private let threshold: UInt64
    private static let bits: UInt64 = 56

    /// - Parameter ratio: of the traces that begin here, 0 to 1. What lies outside is brought inside.
    public init(ratio: Double) {
        let bounded = ratio.isNaN ? 0 : min(max(ratio, 0), 1)
        threshold = UInt64(bounded * Double(1 << Self.bits))
    }

    /// The context of a span that begins under `parent`, or as the first of its trace.
    func span(under parent: TraceContext?) -> TraceContext {
        parent?.child() ?? .fresh { samples($0) }
    }

    /// Decided by the ID's last seven bytes, as everybody does, so that all who see a trace decide alike.
    func samples(_ trace: TraceID) -> Bool {
        trace.low & (1 << Self.bits - 1) < threshold
    }
}
