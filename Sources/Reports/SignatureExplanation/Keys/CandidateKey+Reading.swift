import Crypto
import Encodings
import SigningKit
import StrictJSON

extension CandidateKey {
    /// Reads the public keys of a file: PEM with SubjectPublicKeyInfo (RFC 7468 §13), a JWKS or a single JWK (RFC
    /// 7517), or DER.
    ///
    /// - Parameters:
    ///   - label: The name of the file in messages.
    ///   - keyID: The ID of the key. It replaces the `kid` of a single JWK, and is ignored for a JWKS.
    /// - Returns: At least one key.
    public static func read(
        _ bytes: [UInt8], label: String, keyID: String? = nil
    ) throws(CandidateKeyError) -> [CandidateKey] {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let first = text.first(where: { $0 > 0x20 }) else { throw .empty }
        if first == UInt8(ascii: "{") { return try readJWKS(Array(text), label: label, keyID: keyID) }
        let pem = String(decoding: text, as: UTF8.self)
        if pem.contains(opening) {
            let keys = try publicKeys(inPEM: pem)
            return keys.enumerated().map { index, key in
                CandidateKey(
                    keyID: keyID, label: keys.count == 1 ? label : "\(label), key \(index + 1)", publicKey: key)
            }
        }
        guard first == 0x30 else { throw .unknownFormat }
        return [CandidateKey(keyID: keyID, label: label, publicKey: try publicKey(der: bytes))]
    }

    // MARK: PEM

    private static let opening = "-----BEGIN "

    /// Reads PEM more leniently than RFC 7468. It accepts CRLF, indentation, lines of any length, a line break written
    /// as the two characters `\n`, and text around the blocks.
    private static func publicKeys(inPEM text: String) throws(CandidateKeyError) -> [P256.Signing.PublicKey] {
        var rest = text[...]
        var keys: [P256.Signing.PublicKey] = []
        while let begin = rest.firstRange(of: opening) {
            rest = rest[begin.upperBound...]
            guard let dashes = rest.firstRange(of: "-----") else { throw .pem("its BEGIN line is cut.") }
            let kind = String(rest[..<dashes.lowerBound])
            rest = rest[dashes.upperBound...]
            guard let end = rest.firstRange(of: "-----END \(kind)-----") else {
                throw .pem("there is no line \"-----END \(kind)-----\".")
            }
            if let key = try publicKey(kind: kind, body: rest[..<end.lowerBound]) { keys.append(key) }
            rest = rest[end.upperBound...]
        }
        guard !keys.isEmpty else { throw .pem("it holds no block \"PUBLIC KEY\".") }
        return keys
    }

    /// Nil for a block without a key, such as `EC PARAMETERS`, which openssl writes before a key.
    private static func publicKey(
        kind: String, body: Substring
    ) throws(CandidateKeyError) -> P256.Signing.PublicKey? {
        switch kind {
        case "PUBLIC KEY": break
        case "EC PARAMETERS": return nil
        case "CERTIFICATE", "TRUSTED CERTIFICATE": throw .certificate
        case "RSA PUBLIC KEY": throw .notP256("an RSA key")
        case _ where kind.hasSuffix("PRIVATE KEY"): throw .privateKey
        default: throw .pem("it holds a block \"\(kind)\", not \"PUBLIC KEY\".")
        }
        let characters = body.split(separator: "\\n").joined().utf8.filter { $0 > 0x20 }
        guard let der = Base64.standard.decode(characters) else { throw .pem("its body is not Base64.") }
        return try publicKey(der: der)
    }

    // MARK: DER

    /// Reads a SubjectPublicKeyInfo (RFC 5480 §2).
    private static func publicKey(der: [UInt8]) throws(CandidateKeyError) -> P256.Signing.PublicKey {
        if let key = P256.Signing.PublicKey(subjectPublicKeyInfo: der) { return key }
        // The object identifiers in the DER tell the kind of key.
        let head = Array(der.prefix(64))
        let kind = kinds.first { head.firstRange(of: $0.identifier) != nil }
        throw .notP256(kind?.name ?? "something that is not a SubjectPublicKeyInfo")
    }

    private static let kinds: [(name: String, identifier: [UInt8])] = [
        ("an RSA key", [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]),
        ("a key on secp256k1", [0x2B, 0x81, 0x04, 0x00, 0x0A]),
        ("a key on P-384", [0x2B, 0x81, 0x04, 0x00, 0x22]),
        ("a key on P-521", [0x2B, 0x81, 0x04, 0x00, 0x23]),
        ("an Ed25519 key", [0x2B, 0x65, 0x70]),
        ("a damaged P-256 key", ecPublicKey + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
        ("a key with explicit curve parameters", ecPublicKey + [0x30]),
        ("a key on another curve", ecPublicKey),
    ]

    /// The OID 1.2.840.10045.2.1.
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    // MARK: JWKS

    /// Reads a JWK set (RFC 7517 §5) or a single JWK. It ignores keys of another type or use, as §5 recommends.
    private static func readJWKS(
        _ bytes: [UInt8], label: String, keyID: String?
    ) throws(CandidateKeyError) -> [CandidateKey] {
        do {
            let root = try JSONDocument(parsing: bytes).root.anyObject()
            guard let list = root["keys"] else {
                if let key = try key(root, label: label, keyID: keyID) { return [key] }
                throw CandidateKeyError.keySet(
                    "it has no member \"keys\", and is not itself a key with \"kty\": \"EC\" and \"crv\": \"P-256\".")
            }
            let keys = try list.elements().compactMap { try key($0.anyObject(), label: label, keyID: nil) }
            guard !keys.isEmpty else {
                throw CandidateKeyError.keySet("none of its keys is a P-256 key for signatures.")
            }
            return keys
        } catch let error as CandidateKeyError {
            throw error
        } catch { throw .keySet("\(error)") }
    }

    /// Nil for a key that cannot verify an ES256 signature.
    private static func key(
        _ object: JSONObject, label: String, keyID: String?
    ) throws(CandidateKeyError) -> CandidateKey? {
        func text(_ name: String) -> String? { try? object[name]?.string() }
        func coordinate(_ name: String) -> [UInt8]? {
            text(name).flatMap { Base64.url.decode($0.utf8) }.flatMap { $0.count == 32 ? $0 : nil }
        }
        guard text("kty") == "EC", text("crv") == "P-256", ["sig", nil].contains(text("use")) else { return nil }
        // RFC 7518 §6.2.2: only a private key has `d`.
        guard object["d"] == nil else { throw .privateKey }
        guard let x = coordinate("x"), let y = coordinate("y"),
            let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
        else { throw .keySet("\"x\" and \"y\" of a key are not a point of P-256 (32 bytes each in Base64url).") }
        return CandidateKey(keyID: keyID ?? text("kid"), label: label, publicKey: key)
    }
}
