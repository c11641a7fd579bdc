import Encodings
import SigningKit

extension P256Signature {
    /// The signatures that are meant if r and s, or their bytes, are in the wrong order.
    var reordered: [(signature: P256Signature, finding: Finding)] {
        let swapped = P256Signature(rawRepresentation: bytes[32...] + bytes[..<32])
        let reversed = P256Signature(rawRepresentation: bytes[..<32].reversed() + bytes[32...].reversed())
        let forms: [(P256Signature?, FindingCode, String)] = [
            (swapped, .signatureHalvesSwapped, "The signature is s ‖ r, not r ‖ s."),
            (reversed, .signatureLittleEndian, "The two numbers of the signature are little-endian."),
        ]
        return forms.compactMap { form, code, message in form.map { ($0, Finding(code, in: "signature", message)) } }
    }

    // MARK: DER

    /// Reads `SEQUENCE { r INTEGER, s INTEGER }` despite missing or extra leading zeros, long-form lengths or bytes
    /// after it.
    init?(lenientDER bytes: [UInt8]) {
        var position = 0
        guard Self.tag(0x30, in: bytes, at: &position) != nil, let r = Self.integer(in: bytes, at: &position),
            let s = Self.integer(in: bytes, at: &position)
        else { return nil }
        self.init(rawRepresentation: r + s)
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

    // MARK: Missing zeros

    /// The readings of r ‖ s with less than 64 bytes: r or s lacks its leading zeros. The bytes do not show which of
    /// them, so there are several readings. One number in 256 begins with a zero byte.
    static func readings(ofShort bytes: [UInt8]) -> [P256Signature] { readings(of: bytes, width: 32, zero: 0) { $0 } }

    /// - Parameter characters: Hexadecimal digits. An odd number of zeros may be missing.
    static func readings(ofShortHexadecimal characters: [UInt8]) -> [P256Signature] {
        readings(of: characters, width: 64, zero: UInt8(ascii: "0")) { Hexadecimal.decode($0) }
    }

    /// - Parameter width: The number of elements of r and of s.
    private static func readings(
        of elements: [UInt8], width: Int, zero: UInt8, _ bytes: ([UInt8]) -> [UInt8]?
    ) -> [P256Signature] {
        let missing = 2 * width - elements.count
        // If more than four bytes are missing, another mistake is more likely.
        guard (1...4 * width / 32).contains(missing) else { return [] }
        return (0...missing).compactMap { missingOfR in
            let end = width - missingOfR
            let r = Array(repeating: zero, count: missingOfR) + elements[..<end]
            let s = Array(repeating: zero, count: missing - missingOfR) + elements[end...]
            return bytes(r + s).flatMap { P256Signature(rawRepresentation: $0) }
        }
    }
}
