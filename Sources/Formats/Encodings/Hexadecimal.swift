/// Base 16 (RFC 4648 §8).
public enum Hexadecimal {
    public static func encode(_ bytes: some Sequence<UInt8>, uppercase: Bool = false) -> String {
        let digits = Array((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Nil unless the characters are an even number of digits, of either case, and at least two.
    public static func decode(_ characters: some Collection<UInt8>) -> [UInt8]? {
        guard characters.count.isMultiple(of: 2), !characters.isEmpty else { return nil }
        var bytes: [UInt8] = []
        var rest = characters.makeIterator()
        while let first = rest.next(), let second = rest.next() {
            guard let high = value(first), let low = value(second) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The lower-case digit of a number below 16.
    public static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The value of a digit of either case; nil for another character.
    public static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
