import Base64
public import Crypto

/// Stands for a user in the log: who has the log's key can find the entries of a user that they know; nobody can find out users
/// from entries.
public struct UserHash: Sendable {
    /// What the key is derived for from the log's own (RFC 5869, `info`).
    public static let purpose = "privyseal audit user hash v1"

    private let key: SymmetricKey

    /// - Parameter secret: derived for this purpose alone, 32 bytes.
    public init(secret: SymmetricKey) {
        key = secret
    }

    /// The first 16 bytes of HMAC-SHA-256 over the identifier's UTF-8, as 22 characters of Base64url.
    public func text(of user: String) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(for: Array(user.utf8), using: key)
        return Base64.url.encode(Array(code.prefix(16)))
    }
}
