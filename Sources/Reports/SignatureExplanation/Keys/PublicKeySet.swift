import Crypto
import Encodings
import StrictJSON

/// Reads a JWK set (RFC 7517 §5) or a single JWK. It ignores keys of another type or use, as §5 recommends.
enum PublicKeySet {
    static func read(_ bytes: [UInt8], label: String, keyID: String?) throws(CandidateKeyError) -> [CandidateKey] {
        let root: JSONObject
        do { root = try JSONDocument(parsing: bytes).root.anyObject() } catch { throw .keySet("\(error)") }
        guard let list = root["keys"] else {
            guard let key = try key(root, label: label, keyID: keyID) else {
                throw .keySet(
                    "it has no member \"keys\", and is not itself a key with \"kty\": \"EC\" and \"crv\": \"P-256\".")
            }
            return [key]
        }
        var keys: [CandidateKey] = []
        do {
            for element in try list.elements() {
                if let key = try key(element.anyObject(), label: label, keyID: nil) { keys.append(key) }
            }
        } catch let error as CandidateKeyError {
            throw error
        } catch { throw .keySet("\(error)") }
        guard !keys.isEmpty else { throw .keySet("none of its keys is a P-256 key for signatures.") }
        return keys
    }

    /// Nil for a key that cannot verify an ES256 signature.
    private static func key(
        _ object: JSONObject, label: String, keyID: String?
    ) throws(CandidateKeyError) -> CandidateKey? {
        guard text(object, "kty") == "EC", text(object, "crv") == "P-256" else { return nil }
        if let use = text(object, "use"), use != "sig" { return nil }
        // RFC 7518 §6.2.2: only a private key has `d`.
        guard object["d"] == nil else { throw .privateKey }
        guard let x = coordinate(object, "x"), let y = coordinate(object, "y"),
            let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
        else { throw .keySet("\"x\" and \"y\" of a key are not a point of P-256 (32 bytes each in Base64url).") }
        return CandidateKey(keyID: keyID ?? text(object, "kid"), label: label, publicKey: key)
    }

    private static func text(_ object: JSONObject, _ name: String) -> String? { try? object[name]?.string() }

    private static func coordinate(_ object: JSONObject, _ name: String) -> [UInt8]? {
        guard let text = text(object, name), let bytes = Base64.url.decode(text.utf8), bytes.count == 32 else {
            return nil
        }
        return bytes
    }
}
