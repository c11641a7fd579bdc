/// A one-time value: a version 4 UUID (RFC 9562 §5.4). Apple takes its text in lower case only.
public struct Nonce: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Makes a UUID of 128 random bits, six of which give way to version and variant.
    public init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// 36 lower-case characters in groups of 8, 4, 4, 4 and 12, as ASCII.
    public var text: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 36) { buffer, count in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let half = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: half &>> (60 - 4 * (index & 15))) & 0x0F
                buffer[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
                position += 1
            }
            count = position
        }
    }
}

extension Nonce: CustomStringConvertible {
    public var description: String { String(decoding: text, as: UTF8.self) }
}
