import SigningKit

/// r ‖ s in less than 64 bytes: r or s was written without its leading zeros. Which of them cannot be seen, so there are
/// several readings; one number in 256 begins with a zero byte.
enum ShortSignature {
    /// In bytes of r ‖ s. With more of them it is unlikelier than another mistake.
    private static let mostMissing = 4

    static func readings(of bytes: [UInt8]) -> [P256Signature] { readings(of: bytes, width: 32) { $0 } }

    /// - Parameter characters: hexadecimal digits, where single zeros may be missing, too.
    static func readings(ofHexadecimal characters: [UInt8]) -> [P256Signature] {
        guard characters.allSatisfy({ Hexadecimal.value($0) != nil }) else { return [] }
        return readings(of: characters, width: 64, zero: UInt8(ascii: "0")) { Hexadecimal.decode($0) }
    }

    /// - Parameter width: how many elements each of the two numbers has.
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
