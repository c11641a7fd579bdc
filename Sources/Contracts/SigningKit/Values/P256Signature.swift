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
