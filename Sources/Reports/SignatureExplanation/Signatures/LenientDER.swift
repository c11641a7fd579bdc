import SigningKit

/// Reads `SEQUENCE { r INTEGER, s INTEGER }` despite missing or extra leading zeros, long-form lengths or bytes after
/// it.
enum LenientDER {
    static func read(_ bytes: [UInt8]) -> P256Signature? {
        var position = 0
        guard tag(0x30, in: bytes, at: &position) != nil, let r = integer(in: bytes, at: &position),
            let s = integer(in: bytes, at: &position)
        else { return nil }
        return P256Signature(rawRepresentation: r + s)
    }

    /// The 32 bytes of an integer, big-endian.
    private static func integer(in bytes: [UInt8], at position: inout Int) -> [UInt8]? {
        guard let length = tag(0x02, in: bytes, at: &position), position + length <= bytes.count else { return nil }
        let digits = bytes[position..<position + length].drop { $0 == 0 }
        position += length
        guard digits.count <= 32 else { return nil }
        return Array(repeating: 0, count: 32 - digits.count) + digits
    }

    /// Reads a tag and its length, and returns the length.
    private static func tag(_ tag: UInt8, in bytes: [UInt8], at position: inout Int) -> Int? {
        guard position + 1 < bytes.count, bytes[position] == tag else { return nil }
        let first = bytes[position + 1]
        position += 2
        guard first >= 0x80 else { return Int(first) }
        guard first == 0x81, position < bytes.count else { return nil }
        position += 1
        return Int(bytes[position - 1])
    }
}
