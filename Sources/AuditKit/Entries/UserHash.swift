import Base64
public import Crypto

/// Stands for a user in the log: who has the log's key can find the entries of a user that they know; nobody can find out users
/// from entries.
public struct UserHash: Sendable {
    /// What the key is derived for from the log's own (RFC 5869, `info`).
    public static let purpose = "privyseal audit user hash v1"

    /// With the key in it already: two of four blocks are hashed once for all.
    private let keyed: HMAC<SHA256>

    /// - Parameter secret: derived for this purpose alone, 32 bytes.
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
