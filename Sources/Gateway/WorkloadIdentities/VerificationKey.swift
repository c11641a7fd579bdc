import Crypto
import CryptoExtras
import Encodings
import Foundation
import StrictJSON

/// The algorithms that prove an identity (RFC 7518 §3.1, RFC 8037 §3.1).
enum VerificationAlgorithm: String {
    case es256 = "ES256"
    case rs256 = "RS256"
    case edDSA = "EdDSA"
}

/// A public key of a JWK set (RFC 7517 §4). It is for one algorithm, so a token cannot choose another.
struct VerificationKey: Sendable {
    private enum Key: Sendable {
        case p256(P256.Signing.PublicKey)
        case rsa(_RSA.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    let keyID: String?
    private let key: Key

    /// A verification takes time that grows with the size of the key.
    private static let largestRSA = 8192

    var algorithm: VerificationAlgorithm {
        switch key {
        case .p256: .es256
        case .rsa: .rs256
        case .ed25519: .edDSA
        }
    }

    /// - Returns: nil for a key of another kind, for encryption, or with wrong parameters. A set may contain such keys.
    init?(_ jwk: JSONObject) {
        keyID = try? jwk.decodeIfPresent("kid")
        switch Self.text(jwk, "kty") {
        case "EC":
            guard Self.text(jwk, "crv") == "P-256", let x = Self.bytes(jwk, "x"), let y = Self.bytes(jwk, "y"),
                x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
            else { return nil }
            self.key = .p256(key)
        case "RSA":
            // This refuses moduli of less than 2048 bits.
            guard let n = Self.bytes(jwk, "n"), let e = Self.bytes(jwk, "e"), n.count <= Self.largestRSA / 8,
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            self.key = .rsa(key)
        case "OKP":
            guard Self.text(jwk, "crv") == "Ed25519", let x = Self.bytes(jwk, "x"),
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x)
            else { return nil }
            self.key = .ed25519(key)
        default: return nil
        }
        guard Self.isForSignatures(jwk), ([nil, algorithm.rawValue] as [String?]).contains(Self.text(jwk, "alg")) else {
            return nil
        }
    }

    /// `use` and `key_ops` (RFC 7517 §4.2 and §4.3). SPIFFE marks the keys of JWTs with `jwt-svid`.
    private static func isForSignatures(_ jwk: JSONObject) -> Bool {
        if jwk["use"] != nil, !["sig", "jwt-svid"].contains(text(jwk, "use")) { return false }
        guard let operations = jwk["key_ops"] else { return true }
        let names: [String]? = try? operations.decode()
        return names?.contains("verify") == true
    }

    private static func text(_ jwk: JSONObject, _ name: String) -> String? { try? jwk.decodeIfPresent(name) }

    private static func bytes(_ jwk: JSONObject, _ name: String) -> [UInt8]? {
        text(jwk, name).flatMap { Base64.url.decode(Array($0.utf8)) }
    }

    /// - Parameter signature: r ‖ s for ES256 (RFC 7518 §3.4).
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch key {
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .rsa(let key):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: Data(signature)), for: SHA256.hash(data: message),
                padding: .insecurePKCS1v1_5)
        case .ed25519(let key): return key.isValidSignature(signature, for: message)
        }
    }
}
