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
public struct CandidateKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    public static let empty = Self("It is empty; a public key in PEM or a JWKS is expected.")
    public static let privateKey = Self(
        "It holds a private key, and verifying needs none. Make the public one with "
            + "\"openssl pkey -in AuthKey.p8 -pubout -out public.pem\" where the key is, and keep the key there.")
    public static let certificate = Self(
        "It holds a certificate; extract its key with \"openssl x509 -in FILE -noout -pubkey\".")
    public static let unknownFormat = Self(
        "It is neither PEM (\"-----BEGIN PUBLIC KEY-----\"), nor a JWKS ({\"keys\": […]}), nor a SubjectPublicKeyInfo "
            + "in DER.")

    /// A key of another algorithm or curve.
    public static func notP256(_ kind: String) -> Self {
        Self("It holds \(kind); App Store signatures are made with P-256 (prime256v1).")
    }

    /// - Parameter sentence: Why the JWKS cannot be read.
    static func keySet(_ sentence: String) -> Self { Self("Its JWKS cannot be used: \(sentence)") }

    /// - Parameter sentence: Why a PEM block cannot be read.
    static func pem(_ sentence: String) -> Self { Self("Its PEM cannot be read: \(sentence)") }
}
