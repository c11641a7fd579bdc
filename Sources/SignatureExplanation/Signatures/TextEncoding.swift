/// Encodings that a text should not have been in. Bytes that are no UTF-8 stay as they are.
enum TextEncoding {
    static func utf16(_ utf8: [UInt8], bigEndian: Bool = false) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return bigEndian ? [high, low] : [low, high]
        }
    }

    /// Each byte taken for a character of Latin-1, and that written in UTF-8.
    static func utf8(ofLatin1 bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { Array(Unicode.Scalar($0).utf8) }
    }

    /// One byte for each character, `?` where Latin-1 has none.
    static func latin1(_ utf8: [UInt8]) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") }
    }

    static func map(_ utf8: [UInt8], _ change: (String) -> String) -> [UInt8] {
        String(validating: utf8, as: UTF8.self).map { Array(change($0).utf8) } ?? utf8
    }
}
