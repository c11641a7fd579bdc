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
