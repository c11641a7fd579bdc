/// Reads enough of DER (X.690) to find one element of a certificate.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = ArraySlice(Array(bytes))
    }

    var isAtEnd: Bool { rest.isEmpty }
    var nextTag: UInt8? { rest.first }

    /// - Returns: the content of the next element; nil unless it has this tag, and a valid length in its shortest form.
    mutating func read(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard rest.first == tag, let (length, header) = length() else { return nil }
        guard rest.count - header >= length else { return nil }
        let content = rest.dropFirst(header).prefix(length)
        rest = rest.dropFirst(header + length)
        return content
    }

    mutating func skip() -> Bool {
        guard let tag = rest.first else { return false }
        return read(tag) != nil
    }

    /// The length of the next element's content, and of its tag and length bytes.
    private func length() -> (length: Int, header: Int)? {
        guard let first = rest.dropFirst().first else { return nil }
        if first < 0x80 { return (Int(first), 2) }
        let count = Int(first & 0x7F)
        let bytes = rest.dropFirst(2).prefix(count)
        guard (1...3).contains(count), bytes.count == count else { return nil }
        let length = bytes.reduce(0) { $0 << 8 | Int($1) }
        guard length >= 0x80, bytes.first != 0 else { return nil }
        return (length, 2 + count)
    }
}

extension DERReader {
    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02
    private static let bitString: UInt8 = 0x03
    private static let version: UInt8 = 0xA0
    /// The beginning of an `AlgorithmIdentifier`: id-ecPublicKey (RFC 5480 §2.1.1). The curve follows.
    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    /// The public key of a P-256 certificate (RFC 5280 §4.1): its X9.63 point of 65 bytes.
    static func p256Point(inCertificate der: [UInt8]) -> [UInt8]? {
        var outer = DERReader(der)
        guard let certificate = outer.read(sequence), outer.isAtEnd else { return nil }
        var inner = DERReader(certificate)
        guard let toBeSigned = inner.read(sequence) else { return nil }
        var fields = DERReader(toBeSigned)
        if fields.nextTag == version, fields.read(version) == nil { return nil }
        guard fields.read(integer) != nil else { return nil }
        // Skips the signature algorithm, the issuer, the validity and the subject.
        for _ in 0..<4 where fields.read(sequence) == nil { return nil }
        guard let information = fields.read(sequence) else { return nil }
        var key = DERReader(information)
        guard let algorithm = key.read(sequence), Array(algorithm) == ecPublicKey + NamedCurve.p256,
            let bits = key.read(bitString), key.isAtEnd, bits.count == 66, bits.first == 0
        else { return nil }
        return Array(bits.dropFirst())
    }
}
