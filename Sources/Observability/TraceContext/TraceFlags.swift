/// The flags of a trace (W3C Trace Context, `trace-flags`). Level 1 defines one; others are read and sent as zero.
public struct TraceFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The caller may have recorded the trace.
    public static let sampled = TraceFlags(rawValue: 0x01)
}
