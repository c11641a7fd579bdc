import Glibc

/// AES Key Wrap with Padding (RFC 5649) over any block cipher call: the AES key may be in a token. Only tokens unwrap.
public enum PaddedKeyWrap {
    /// - Parameters:
    ///   - plain: 9 bytes or more. Shorter input uses another method (RFC 5649 §4.1), and no key is that short.
    ///   - encrypt: AES over one block of 16 bytes, in place.
    /// - Returns: up to 15 bytes more than `plain`; nil if the input is too short or too long.
    public static func wrap<Failure: Error>(
        _ plain: UnsafeRawBufferPointer, encrypt: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8]? {
        guard plain.count > 8, plain.count <= 1 << 16 else { return nil }
        let count = (plain.count + 7) / 8
        var output = [UInt8](repeating: 0, count: 8 * (count + 1))
        output.replaceSubrange(8..<8 + plain.count, with: plain)
        // The alternative initial value (§3): a constant and the length of the plain text.
        var integrity: [UInt8] = [0xA6, 0x59, 0x59, 0xA6] + bigEndian(UInt32(plain.count))
        do throws(Failure) {
            // W of RFC 3394 §2.2.1, index-based.
            for round in 0..<6 {
                for index in 1...count {
                    try step(&integrity, &output, index, counter: UInt32(count * round + index), encrypt)
                }
            }
        } catch {
            // The buffer still holds parts of the plain text.
            output.withUnsafeMutableBytes { bytes in
                if let address = bytes.baseAddress { explicit_bzero(address, bytes.count) }
            }
            throw error
        }
        output.replaceSubrange(0..<8, with: integrity)
        return output
    }

    private static func step<Failure: Error>(
        _ integrity: inout [UInt8], _ output: inout [UInt8], _ index: Int, counter: UInt32,
        _ encrypt: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var block = InlineArray<16, UInt8>(repeating: 0)
        defer { for offset in 0..<16 { block[offset] = 0 } }
        for offset in 0..<8 {
            block[offset] = integrity[offset]
            block[8 + offset] = output[8 * index + offset]
        }
        var span = block.mutableSpan
        try span.withUnsafeMutableBytes { bytes throws(Failure) in try encrypt(bytes) }
        let mask = bigEndian(counter)
        for offset in 0..<8 {
            integrity[offset] = block[offset] ^ (offset < 4 ? 0 : mask[offset - 4])
            output[8 * index + offset] = block[8 + offset]
        }
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
