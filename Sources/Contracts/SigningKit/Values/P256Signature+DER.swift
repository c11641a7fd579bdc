/// `Ecdsa-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279 §2.2.3), 8 to 72 bytes.
extension P256Signature {
    /// The signature in DER: no leading zeros, and one zero byte before a high bit (X.690 §8.3.2).
    public var derRepresentation: [UInt8] {
        let (r, s) = (integer(at: 0), integer(at: 32))
        let length = 4 + r.length + s.length
        return [UInt8](unsafeUninitializedCapacity: 2 + length) { der, count in
            der[0] = 0x30
            der[1] = UInt8(length)
            count = 2
            write(r, to: der, at: &count)
            write(s, to: der, at: &count)
        }
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
            Self.copy(der.extracting(value), to: &raw, endingAt: end)
        }
        guard position == der.count else { return nil }
        self.init(rawRepresentation: raw)
    }

    /// One half of r ‖ s as a DER integer.
    private struct Integer {
        /// The index of the first significant byte; the last byte always counts.
        var start: Int
        var end: Int
        var needsZero: Bool
        var length: Int { end - start + (needsZero ? 1 : 0) }
    }

    private func integer(at half: Int) -> Integer {
        var start = half
        let end = half + 32
        while start < end - 1, rawRepresentation[start] == 0 { start += 1 }
        return Integer(start: start, end: end, needsZero: rawRepresentation[start] & 0x80 != 0)
    }

    private func write(_ integer: Integer, to der: UnsafeMutableBufferPointer<UInt8>, at position: inout Int) {
        der[position] = 0x02
        der[position + 1] = UInt8(integer.length)
        position += 2
        if integer.needsZero {
            der[position] = 0
            position += 1
        }
        for index in integer.start..<integer.end {
            der[position] = rawRepresentation[index]
            position += 1
        }
    }

    private static func copy(_ bytes: Span<UInt8>, to raw: inout InlineArray<64, UInt8>, endingAt end: Int) {
        var room = raw.mutableSpan
        room.withUnsafeMutableBytes { room in
            bytes.withUnsafeBytes { room[(end - bytes.count)..<end].copyBytes(from: $0) }
        }
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
