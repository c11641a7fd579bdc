public import Crypto

extension P256.Signing.PublicKey {
    /// Reads a SubjectPublicKeyInfo in DER (RFC 5480 §2), with the point uncompressed or compressed (SEC 1 §2.3.3).
    ///
    /// swift-crypto's own parser reads only the point, so it accepts a point under another curve's name.
    ///
    /// - Returns: nil unless the algorithm is `id-ecPublicKey`, the parameters name P-256 and the point is on it.
    public init?(subjectPublicKeyInfo der: [UInt8]) {
        // With this algorithm and a point of this length, all bytes before the point are fixed.
        let key: P256.Signing.PublicKey?
        if der.starts(with: [0x30, 0x59] + Self.algorithm + [0x03, 0x42, 0x00, 0x04]), der.count == 91 {
            key = try? P256.Signing.PublicKey(x963Representation: der.suffix(65))
        } else if der.starts(with: [0x30, 0x39] + Self.algorithm + [0x03, 0x22, 0x00]), der.count == 59 {
            key = try? P256.Signing.PublicKey(compressedRepresentation: der.suffix(33))
        } else {
            key = nil
        }
        guard let key else { return nil }
        self = key
    }

    /// AlgorithmIdentifier: id-ecPublicKey 1.2.840.10045.2.1, secp256r1 1.2.840.10045.3.1.7.
    private static let algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
}
