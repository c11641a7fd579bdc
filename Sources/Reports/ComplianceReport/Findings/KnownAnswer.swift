import Crypto
import Encodings

/// The known-answer test of signature verification. A published signature verifies; with a changed bit or message it
/// does not (RFC 6979 §A.2.5, P-256 with SHA-256, message "sample").
public enum KnownAnswer {
    static let message = "sample"
    /// x ‖ y.
    static let publicKey =
        "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    /// r ‖ s.
    static let signature =
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"

    public static var holds: Bool { verifies(signature) && !verifies(changed) && !verifies(signature, of: "Sample") }

    /// The signature with the last bit of s inverted.
    private static var changed: String { signature.dropLast() + "9" }

    private static func verifies(_ signature: String, of message: String = message) -> Bool {
        guard let point = Hexadecimal.decode(Array(publicKey.utf8)),
            let key = try? P256.Signing.PublicKey(rawRepresentation: point),
            let raw = Hexadecimal.decode(Array(signature.utf8)),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else { return false }
        return key.isValidSignature(signature, for: SHA256.hash(data: Array(message.utf8)))
    }
}
