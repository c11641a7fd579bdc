import Crypto

/// A public key in PEM (RFC 7468 §13), as `openssl pkey -pubout` writes it.
enum PublicKeyFile {
    /// In bytes. A P-256 key takes 178.
    private static let maximumSize = 16_384

    static func read(_ path: String) throws(InvalidValue) -> P256.Signing.PublicKey {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: maximumSize)
        } catch {
            throw InvalidValue("names a file that \(error.sentence)")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("PRIVATE KEY-----") {
            throw InvalidValue(
                "names a file with a private key, which does not belong there; write the public key to another file with "
                    + "openssl pkey -pubout")
        }
        if text.contains("BEGIN CERTIFICATE-----") {
            throw InvalidValue("names a certificate; take the public key out of it with openssl x509 -pubkey -noout")
        }
        // swift-crypto takes a point under another curve's name; the same key written anew has the right one.
        guard let key = try? P256.Signing.PublicKey(pemRepresentation: text),
            compact(text) == compact(key.pemRepresentation)
        else {
            throw InvalidValue(
                "names a file that is not a P-256 public key in PEM, from -----BEGIN PUBLIC KEY----- to "
                    + "-----END PUBLIC KEY----- and nothing else")
        }
        return key
    }

    private static func compact(_ pem: String) -> [UInt8] { pem.utf8.filter { $0 > 0x20 } }
}
