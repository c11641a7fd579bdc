import Crypto
import Encodings

/// The way from the bytes to the signed digest. `sha256` is the correct one.
enum DigestForm: CaseIterable, Sendable {
    case sha256, twice, hexadecimal, upperHexadecimal, hexadecimalUnhashed, base64, sha384, sha512, sha1, unhashed

    func apply(_ bytes: [UInt8]) -> RawDigest {
        switch self {
        case .sha256: RawDigest(SHA256.hash(data: bytes))
        case .twice: again(Array(SHA256.hash(data: bytes)))
        case .hexadecimal: again(Array(Hexadecimal.encode(SHA256.hash(data: bytes)).utf8))
        case .upperHexadecimal: again(Array(Hexadecimal.encode(SHA256.hash(data: bytes), uppercase: true).utf8))
        case .hexadecimalUnhashed: RawDigest(Hexadecimal.encode(SHA256.hash(data: bytes)).utf8)
        case .base64: again(Base64.standard.encode(Array(SHA256.hash(data: bytes))))
        case .sha384: RawDigest(SHA384.hash(data: bytes))
        case .sha512: RawDigest(SHA512.hash(data: bytes))
        case .sha1: RawDigest(Insecure.SHA1.hash(data: bytes))
        case .unhashed: RawDigest(bytes)
        }
    }

    private func again(_ digest: [UInt8]) -> RawDigest { RawDigest(SHA256.hash(data: digest)) }

    /// The finding about a signature that verifies with this form; nil for `sha256`.
    var finding: Finding? {
        switch self {
        case .sha256: nil
        case .twice:
            Finding(.digestTwice, "The signed digest is the SHA-256 of a SHA-256: the digest was hashed once more.")
        case .hexadecimal, .upperHexadecimal:
            Finding(
                .digestHexadecimal, "The SHA-256 was hashed and signed as hexadecimal text, not as bytes.")
        case .hexadecimalUnhashed:
            Finding(
                .digestHexadecimal, "The hexadecimal text of the SHA-256 was given to the key as if it were the digest."
            )
        case .base64:
            Finding(.digestBase64, "The SHA-256 was hashed and signed as Base64 text, not as bytes.")
        case .sha384: Finding(.digestSHA384, "The bytes were hashed with SHA-384; Apple verifies with SHA-256.")
        case .sha512: Finding(.digestSHA512, "The bytes were hashed with SHA-512; Apple verifies with SHA-256.")
        case .sha1: Finding(.digestSHA1, "The bytes were hashed with SHA-1; Apple verifies with SHA-256.")
        case .unhashed:
            Finding(
                .digestMissing,
                "The bytes were signed without being hashed: their first 32 were used as the digest.")
        }
    }
}
