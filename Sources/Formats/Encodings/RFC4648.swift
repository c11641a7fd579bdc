/// Base64 (RFC 4648) in its two alphabets. This module exists for speed, because each signature needs it two or three
/// times. It also decodes strictly, and refuses text that two decoders could read differently.
public enum Base64: Sendable {
    /// RFC 4648 §4 with `+` and `/`, padded with `=`.
    case standard
    /// RFC 4648 §5 with `-` and `_`, without padding (RFC 7515 §2).
    case url

    /// The encoded characters, as ASCII.
    public func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.count + 2) / 3 * 4)
        append(bytes, to: &characters)
        return characters
    }

    public func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

    public func append(_ bytes: [UInt8], to characters: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { append(contiguous: $0, to: &characters) }
    }

    public func append(_ bytes: Span<UInt8>, to characters: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { append(contiguous: $0, to: &characters) }
    }

    public func append(_ bytes: some Collection<UInt8>, to characters: inout [UInt8]) {
        let isContiguous: Void? = bytes.withContiguousStorageIfAvailable { append(contiguous: $0, to: &characters) }
        if isContiguous == nil { Array(bytes).withUnsafeBufferPointer { append(contiguous: $0, to: &characters) } }
    }

    private func append(contiguous bytes: UnsafeBufferPointer<UInt8>, to characters: inout [UInt8]) {
        let start = characters.count
        characters.append(contentsOf: repeatElement(UInt8(ascii: "="), count: encodedCount(of: bytes.count)))
        // Use one buffer for the whole run: an array checks its uniqueness at every store.
        characters.withUnsafeMutableBufferPointer { characters in
            encode(bytes, into: UnsafeMutableBufferPointer(rebasing: characters[start...]))
        }
    }

    /// - Parameter characters: `encodedCount` characters, all `=`.
    private func encode(_ bytes: UnsafeBufferPointer<UInt8>, into characters: UnsafeMutableBufferPointer<UInt8>) {
        let room = UnsafeMutableRawBufferPointer(characters)
        alphabet.withUTF8Buffer { alphabet in
            var source = 0
            var target = 0
            while source + 2 < bytes.count {
                let group = UInt32(bytes[source]) << 16 | UInt32(bytes[source + 1]) << 8 | UInt32(bytes[source + 2])
                let quartet =
                    UInt32(alphabet[Int(group >> 18)]) | UInt32(alphabet[Int(group >> 12 & 63)]) << 8
                    | UInt32(alphabet[Int(group >> 6 & 63)]) << 16 | UInt32(alphabet[Int(group & 63)]) << 24
                room.storeBytes(of: quartet.littleEndian, toByteOffset: target, as: UInt32.self)
                source += 3
                target += 4
            }
            guard source < bytes.count else { return }
            let isPair = source + 1 < bytes.count
            let group = UInt32(bytes[source]) << 16 | (isPair ? UInt32(bytes[source + 1]) << 8 : 0)
            characters[target] = alphabet[Int(group >> 18)]
            characters[target + 1] = alphabet[Int(group >> 12 & 63)]
            if isPair { characters[target + 2] = alphabet[Int(group >> 6 & 63)] }
        }
    }

    /// Nil unless `characters` is an exact output of `encode`: no white space, the right padding (none for `url`), and
    /// no stray bits in the last character (RFC 4648 §3.5).
    public func decode(_ characters: some Collection<UInt8>) -> [UInt8]? {
        characters.withContiguousStorageIfAvailable { decode(contiguous: $0) }
            ?? Array(characters).withUnsafeBufferPointer { decode(contiguous: $0) }
    }

    private func decode(contiguous characters: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var sextets = 0
        var padding = 0
        for character in characters {
            if character == UInt8(ascii: "="), self == .standard {
                padding += 1
            } else if padding == 0, let sextet = value(of: character) {
                bits = bits << 6 | UInt32(sextet)
                sextets += 1
                // The second, third and fourth sextet of a group each complete a byte.
                if sextets % 4 != 1 {
                    bytes.append(UInt8(truncatingIfNeeded: bits >> Self.strayBits(after: sextets)))
                }
            } else {
                return nil
            }
        }
        guard sextets % 4 != 1, self == .url || padding == (4 - sextets % 4) % 4 else { return nil }
        return bits & (1 << Self.strayBits(after: sextets) - 1) == 0 ? bytes : nil
    }

    /// The number of bits of the last sextet that are not yet in a byte.
    private static func strayBits(after sextets: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: sextets * 6 % 8)
    }

    private func encodedCount(of count: Int) -> Int {
        switch self {
        case .standard: (count + 2) / 3 * 4
        case .url: (count * 4 + 2) / 3
        }
    }

    private var alphabet: StaticString {
        switch self {
        case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        case .url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        }
    }

    private func value(of character: UInt8) -> UInt8? {
        switch (character, self) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): character - UInt8(ascii: "A")
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): character - UInt8(ascii: "a") + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): character - UInt8(ascii: "0") + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .url): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .url): 63
        default: nil
        }
    }
}

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
