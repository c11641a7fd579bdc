import Crypto
import Foundation
import SigningKit

/// Reads a public key in PEM (RFC 7468 §13), as `openssl pkey -pubout` writes it.
enum PublicKeyFile {
    /// In bytes. A P-256 key has 178.
    private static let maximumSize = 16_384

    static func read(_ path: String) throws(InvalidValue) -> P256.Signing.PublicKey {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.contents(of: path, limit: maximumSize)
        } catch {
            throw InvalidValue("names a file that \(error.sentence)")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        try require(
            !text.contains("PRIVATE KEY-----"),
            "names a file with a private key, which does not belong there; write the public key to another file with "
                + "openssl pkey -pubout")
        try require(
            !text.contains("BEGIN CERTIFICATE-----"),
            "names a certificate; extract its public key with openssl x509 -pubkey -noout")
        guard let key = key(in: text) else {
            throw InvalidValue(
                "names a file that is not a P-256 public key in PEM, from -----BEGIN PUBLIC KEY----- to "
                    + "-----END PUBLIC KEY----- and nothing else")
        }
        return key
    }

    /// The point may be compressed, as `openssl pkey -pubout -ec_conv_form compressed` writes it.
    private static func key(in text: String) -> P256.Signing.PublicKey? {
        let pem = text.filter { !$0.isWhitespace }
        let (begin, end) = ("-----BEGINPUBLICKEY-----", "-----ENDPUBLICKEY-----")
        guard pem.hasPrefix(begin), pem.hasSuffix(end),
            let der = Data(base64Encoded: String(pem.dropFirst(begin.count).dropLast(end.count)))
        else { return nil }
        return P256.Signing.PublicKey(subjectPublicKeyInfo: Array(der))
    }
}
