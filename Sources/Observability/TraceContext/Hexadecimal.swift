/// Hexadecimal digits in ASCII. W3C Trace Context allows only lower case, for input and output.
enum Hexadecimal {
    /// Reads exactly `count` digits; at most 16.
    static func read(_ characters: UnsafeBufferPointer<UInt8>, at start: Int, count: Int) -> UInt64? {
        var value: UInt64 = 0
        for position in start..<start + count {
            guard let digit = digit(characters[position]) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Writes 16 digits.
    static func write(_ value: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for index in 0..<16 {
            buffer[start + index] = character(UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * index)) & 0x0F)
        }
    }

    static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
