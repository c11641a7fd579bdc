/// The ID of a whole trace: 16 bytes, not all zero (W3C Trace Context, `trace-id`).
public struct TraceID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    /// - Returns: nil for zero, which is not an ID.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    public static func random() -> TraceID {
        while true {
            let (high, low) = RandomWords.shared.pair()
            if let id = TraceID(high: high, low: low) { return id }
        }
    }

    /// 32 lower-case hexadecimal digits, as ASCII.
    public var text: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            Hexadecimal.write(high, into: buffer, at: 0)
            Hexadecimal.write(low, into: buffer, at: 16)
            count = 32
        }
    }
}

extension TraceID: CustomStringConvertible {
    public var description: String { String(decoding: text, as: UTF8.self) }
}
