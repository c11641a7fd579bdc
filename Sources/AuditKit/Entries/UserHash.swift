import Base64
public import Crypto

/// Stands for a user in the log: who has the key can find the entries of a user that they know; nobody can find out users
/// from entries.
public struct UserHash: Sendable {
    private let key: SymmetricKey

    /// - Parameter secret: of the log, at least 32 bytes.
    public init(secret: SymmetricKey) {
        // A key of its own, so that a hash that somebody breaks says nothing of the secret (RFC 5869).
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Array("privyseal audit user hash v1".utf8), outputByteCount: 32)
    }

    /// The first 16 bytes of HMAC-SHA-256 over the identifier's UTF-8, as 22 characters of Base64url.
    public func text(of user: String) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(for: Array(user.utf8), using: key)
        return Base64.url.encode(Array(code.prefix(16)))
    }
}
