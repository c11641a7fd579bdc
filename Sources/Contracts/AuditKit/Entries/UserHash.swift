public import Crypto
import Encodings

/// A keyed hash that stands for a user in the log. With the log's key, a reader can find the entries of a known user.
/// Without that key, the hash does not reveal the user.
public struct UserHash: Sendable {
    /// The `info` input that derives the hash key from the log's key (HKDF, RFC 5869).
    public static let purpose = "privyseal audit user hash v1"

    /// HMAC state with the key blocks already hashed: two of the four SHA-256 blocks are computed only once.
    private let keyed: HMAC<SHA256>

    /// - Parameter secret: 32 bytes, derived for `purpose` only.
    public init(secret: SymmetricKey) {
        keyed = HMAC(key: secret)
    }

    /// The first 16 bytes of HMAC-SHA-256 over the identifier's UTF-8, as 22 characters of Base64url.
    public func text(of user: String) -> [UInt8] {
        var code = keyed
        code.update(data: Array(user.utf8))
        return Base64.url.encode(Array(code.finalize().prefix(16)))
    }
}
