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
        guard digits.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard rest.prefix(2).allSatisfy(\.isHexDigit), let byte = UInt8(rest.prefix(2), radix: 16) else {
                return nil
            }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self.bytes = bytes
    }
}

extension PublicKeyFingerprint: CustomStringConvertible {
    /// `sha256:` and 64 lower-case digits.
    public var description: String {
        "sha256:" + Hexadecimal.encode(bytes)
    }
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
