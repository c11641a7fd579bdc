public import Crypto
import SigningKit
import StrictJSON

/// A public key that may verify a signature.
public struct CandidateKey: Sendable {
    /// The key's ID in App Store Connect, if known.
    public let keyID: String?
    /// The source of the key in messages, such as a file name.
    public let label: String
    public let publicKey: P256.Signing.PublicKey

    public init(keyID: String?, label: String, publicKey: P256.Signing.PublicKey) {
        self.keyID = keyID
        self.label = label
        self.publicKey = publicKey
    }

    /// The SHA-256 of the SubjectPublicKeyInfo, as `sha256:` and 64 hexadecimal digits.
    public var fingerprint: String { PublicKeyFingerprint(of: publicKey).description }

    /// The name of the key in messages.
    var name: String {
        if let keyID { "\(keyID) (\(label))" } else { label }
    }
}

extension CandidateKey: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = ["keyId": keyID, "label": label, "fingerprint": fingerprint]
        try members.encode(to: encoder)
    }
}

/// Why a file has no usable public key: a sentence with the remedy, without any of the file's contents.
public enum CandidateKeyError: Error, Equatable, Sendable {
    case empty
    /// The file has a private key, which verification does not need.
    case privateKey
    case certificate
    /// A key of another algorithm or curve.
    case notP256(String)
    /// Neither PEM, nor JWKS, nor DER.
    case unknownFormat
    /// The JWKS cannot be read. The sentence says why.
    case keySet(String)
    /// A PEM block cannot be read. The sentence says why.
    case pem(String)
}

extension CandidateKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "It is empty; a public key in PEM or a JWKS is expected."
        case .privateKey:
            "It holds a private key, and verifying needs none. Make the public one with "
                + "\"openssl pkey -in AuthKey.p8 -pubout -out public.pem\" where the key is, and keep the key there."
        case .certificate:
            "It holds a certificate; extract its key with \"openssl x509 -in FILE -noout -pubkey\"."
        case .notP256(let what): "It holds \(what); App Store signatures are made with P-256 (prime256v1)."
        case .unknownFormat:
            "It is neither PEM (\"-----BEGIN PUBLIC KEY-----\"), nor a JWKS ({\"keys\": […]}), nor a "
                + "SubjectPublicKeyInfo in DER."
        case .keySet(let sentence): "Its JWKS cannot be used: \(sentence)"
        case .pem(let sentence): "Its PEM cannot be read: \(sentence)"
        }
    }
}
