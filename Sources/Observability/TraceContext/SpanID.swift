/// The ID of one span of a trace: 8 bytes, not all zero (W3C Trace Context, `parent-id`).
public struct SpanID: Hashable, Sendable {
    public let rawValue: UInt64

    /// - Returns: nil for zero, which is not an ID.
    public init?(_ rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    public static func random() -> SpanID {
        while true {
            let (first, second) = RandomWords.shared.pair()
            if let id = SpanID(first) ?? SpanID(second) { return id }
        }
    }

    /// 16 lower-case hexadecimal digits, as ASCII.
    public var text: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            Hexadecimal.write(rawValue, into: buffer, at: 0)
            count = 16
        }
    }
}

extension SpanID: CustomStringConvertible {
    public var description: String { String(decoding: text, as: UTF8.self) }
}
