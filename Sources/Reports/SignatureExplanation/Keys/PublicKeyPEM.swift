import Crypto
import Encodings

/// Reads public keys in PEM more leniently than RFC 7468. It accepts CRLF, indentation, lines of any length, a line
/// break written as the two characters `\n`, and text around the blocks.
enum PublicKeyPEM {
    static func isPEM(_ text: ArraySlice<UInt8>) -> Bool {
        String(decoding: text, as: UTF8.self).contains(opening)
    }

    static func read(_ text: ArraySlice<UInt8>) throws(CandidateKeyError) -> [P256.Signing.PublicKey] {
        var rest = String(decoding: text, as: UTF8.self)[...]
        var keys: [P256.Signing.PublicKey] = []
        while let begin = rest.firstRange(of: opening) {
            rest = rest[begin.upperBound...]
            guard let dashes = rest.firstRange(of: "-----") else { throw .pem("its BEGIN line is cut.") }
            let kind = String(rest[..<dashes.lowerBound])
            rest = rest[dashes.upperBound...]
            guard let end = rest.firstRange(of: "-----END \(kind)-----") else {
                throw .pem("there is no line \"-----END \(kind)-----\".")
            }
            if let key = try key(kind: kind, body: rest[..<end.lowerBound]) { keys.append(key) }
            rest = rest[end.upperBound...]
        }
        guard !keys.isEmpty else { throw .pem("it holds no block \"PUBLIC KEY\".") }
        return keys
    }

    /// Nil for a block without a key, such as `EC PARAMETERS`, which openssl writes before a key.
    private static func key(kind: String, body: Substring) throws(CandidateKeyError) -> P256.Signing.PublicKey? {
        switch kind {
        case "PUBLIC KEY": break
        case "EC PARAMETERS": return nil
        case "CERTIFICATE", "TRUSTED CERTIFICATE": throw .certificate
        case "RSA PUBLIC KEY": throw .notP256("an RSA key")
        default:
            if kind.hasSuffix("PRIVATE KEY") { throw .privateKey }
            throw .pem("it holds a block \"\(kind)\", not \"PUBLIC KEY\".")
        }
        let lines = body.split(separator: "\\n").joined()
        let characters = lines.utf8.filter { $0 > 0x20 }
        guard let der = Base64.standard.decode(characters) else { throw .pem("its body is not Base64.") }
        return try PublicKeyDER.read(der)
    }

    private static let opening = "-----BEGIN "
}
