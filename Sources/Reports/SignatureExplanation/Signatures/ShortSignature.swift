import Encodings
import SigningKit

/// Reads r ‖ s of less than 64 bytes: r or s lacks its leading zeros. The bytes do not show which of them, so there are
/// several readings. One number in 256 begins with a zero byte.
enum ShortSignature {
    /// In bytes of r ‖ s. If more are missing, another mistake is more likely.
    private static let mostMissing = 4

    static func readings(of bytes: [UInt8]) -> [P256Signature] { readings(of: bytes, width: 32) { $0 } }

    /// - Parameter characters: Hexadecimal digits. An odd number of zeros may be missing.
    static func readings(ofHexadecimal characters: [UInt8]) -> [P256Signature] {
        guard characters.allSatisfy({ Hexadecimal.value($0) != nil }) else { return [] }
        return readings(of: characters, width: 64, zero: UInt8(ascii: "0")) { Hexadecimal.decode($0) }
    }

    /// - Parameter width: The number of elements of r and of s.
    private static func readings(
        of elements: [UInt8], width: Int, zero: UInt8 = 0, _ bytes: ([UInt8]) -> [UInt8]?
    ) -> [P256Signature] {
        let missing = 2 * width - elements.count
        guard (1...mostMissing * width / 32).contains(missing) else { return [] }
        return (0...missing).compactMap { missingOfR in
            let end = width - missingOfR
            let r = Array(repeating: zero, count: missingOfR) + elements[..<end]
            let s = Array(repeating: zero, count: missing - missingOfR) + elements[end...]
            return bytes(r + s).flatMap { P256Signature(rawRepresentation: $0) }
        }
    }
}
