public import Crypto

/// A message that proves that a key can sign, and that is good for nothing else.
///
/// It begins with a fixed text and a NUL, so it is neither a JWS signing input (ASCII that begins with Base64url of
/// `{`) nor a legacy one (fields without control characters); a random nonce makes each one new.
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
