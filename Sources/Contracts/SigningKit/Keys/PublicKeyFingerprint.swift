public import Crypto
import Encodings
import StrictJSON

/// The SHA-256 of a public key's SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7), which pins a key.
/// `openssl pkey -pubin -outform DER | sha256sum` prints the same digits.
public struct PublicKeyFingerprint: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of key: P256.Signing.PublicKey) {
        bytes = Array(SHA256.hash(data: key.derRepresentation))
    }

    /// - Parameter subjectPublicKeyInfo: of any key type, in DER.
    public init(ofDER subjectPublicKeyInfo: [UInt8]) {
        bytes = Array(SHA256.hash(data: subjectPublicKeyInfo))
    }

    /// Reads `sha256:` and 64 hexadecimal digits of either case, with or without colons between the bytes.
    public init?(_ text: String) {
        let prefix = "sha256:"
        guard text.lowercased().hasPrefix(prefix) else { return nil }
        let digits = text.dropFirst(prefix.count).filter { $0 != ":" }
        guard digits.utf8.count == 64, let bytes = Hexadecimal.decode(digits.utf8) else { return nil }
        self.bytes = bytes
    }
}

extension PublicKeyFingerprint: CustomStringConvertible {
    /// `sha256:` and 64 lower-case digits.
    public var description: String { "sha256:" + Hexadecimal.encode(bytes) }
}

extension PublicKeyFingerprint: Codable {
    public init(from decoder: any Decoder) throws {
        guard let fingerprint = Self(try decoder.singleValueContainer().decode(String.self)) else {
            throw JSONReadError(.invalid("must be sha256: and 64 hexadecimal digits"))
        }
        self = fingerprint
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

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
