public import Crypto

/// An ECDSA signature over P-256: r ‖ s, each 32 bytes, big-endian. `CKM_ECDSA` returns this form (PKCS #11 v2.40
/// §2.3.1), and ES256 uses it (RFC 7518 §3.4).
public struct P256Signature: Sendable {
    public let rawRepresentation: InlineArray<64, UInt8>

    public init(rawRepresentation: InlineArray<64, UInt8>) {
        self.rawRepresentation = rawRepresentation
    }

    /// Nil unless there are 64 bytes.
    public init?(rawRepresentation bytes: some Collection<UInt8>) {
        guard bytes.count == 64 else { return nil }
        var raw = InlineArray<64, UInt8>(repeating: 0)
        for (index, byte) in bytes.enumerated() { raw[index] = byte }
        rawRepresentation = raw
    }

    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            for index in 0..<64 { buffer[index] = rawRepresentation[index] }
            count = 64
        }
    }
}

extension P256Signature: Equatable {
    public static func == (left: P256Signature, right: P256Signature) -> Bool {
        (0..<64).allSatisfy { left.rawRepresentation[$0] == right.rawRepresentation[$0] }
    }
}

extension P256.Signing.PublicKey {
    /// Verifies with swift-crypto. No key signs with this implementation, so one defect cannot be in both.
    public func verifies(_ signature: P256Signature, of digest: SHA256Digest) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else { return false }
        return isValidSignature(signature, for: digest)
    }
}

/// `Ecdsa-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279 §2.2.3), 8 to 72 bytes.
extension P256Signature {
    /// The signature in DER: no leading zeros, and one zero byte before a high bit (X.690 §8.3.2).
    public var derRepresentation: [UInt8] {
        var der: [UInt8] = []
        der.reserveCapacity(72)
        der += [0x30, 0]
        for half in [0, 32] {
            var start = half
            while start < half + 31, rawRepresentation[start] == 0 { start += 1 }
            let needsZero = rawRepresentation[start] & 0x80 != 0
            der += [0x02, UInt8(half + 32 - start + (needsZero ? 1 : 0))]
            if needsZero { der.append(0) }
            for index in start..<half + 32 { der.append(rawRepresentation[index]) }
        }
        der[1] = UInt8(der.count - 2)
        return der
    }

    /// Nil unless `der` is strict DER: minimal lengths and integers, not negative, at most 32 bytes, and nothing after
    /// the sequence.
    public init?(derRepresentation der: some Collection<UInt8>) {
        let der = Array(der)
        self.init(derRepresentation: der.span)
    }

    /// The same without a copy.
    public init?(derRepresentation der: Span<UInt8>) {
        guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { return nil }
        var raw = InlineArray<64, UInt8>(repeating: 0)
        var position = 2
        for end in [32, 64] {
            guard let value = Self.integer(in: der, at: &position) else { return nil }
            for (offset, index) in value.enumerated() { raw[end - value.count + offset] = der[index] }
        }
        guard position == der.count else { return nil }
        self.init(rawRepresentation: raw)
    }

    /// The range of the next integer's bytes, without the zero that only marks it as positive.
    private static func integer(in der: Span<UInt8>, at position: inout Int) -> Range<Int>? {
        guard position + 2 < der.count, der[position] == 0x02 else { return nil }
        let length = Int(der[position + 1])
        let start = position + 2
        guard (1...33).contains(length), start + length <= der.count else { return nil }
        position = start + length
        guard der[start] & 0x80 == 0 else { return nil }
        guard length > 1, der[start] == 0 else { return length <= 32 ? start..<position : nil }
        return der[start + 1] & 0x80 != 0 ? start + 1..<position : nil
    }
}
