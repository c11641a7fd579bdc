public import Crypto

/// A message that proves that a key can sign, and has no other use.
///
/// It starts with a fixed text and a NUL. So it is neither a JWS signing input (ASCII that starts with Base64url of
/// `{`) nor a legacy one (fields without control characters). A random nonce makes each message unique.
public struct ProofOfPossession {
    public static let prefix = Array("PrivySeal proof of possession v1\0".utf8)

    public let digest: SHA256Digest

    public init() {
        var random = SystemRandomNumberGenerator()
        var hash = SHA256()
        hash.update(data: Self.prefix)
        hash.update(data: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        digest = hash.finalize()
    }
}
