public import Crypto
import SigningKit
public import StrictJSON

/// A public key that may have made a signature.
public struct CandidateKey: Sendable {
    /// The key's ID in App Store Connect, where it is known.
    public let keyID: String?
    /// Where the key comes from, for people: a file's name, for example.
    public let label: String
    public let publicKey: P256.Signing.PublicKey

    public init(keyID: String?, label: String, publicKey: P256.Signing.PublicKey) {
        self.keyID = keyID
        self.label = label
        self.publicKey = publicKey
    }

    /// SHA-256 of the SubjectPublicKeyInfo, as `sha256:` and 64 digits.
    public var fingerprint: String { PublicKeyFingerprint(of: publicKey).description }

    /// How a sentence names the key.
    var name: String {
        if let keyID { "\(keyID) (\(label))" } else { label }
    }
}

extension CandidateKey: JSONWritable {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let keyID { writer.member("keyId", keyID) }
            writer.member("label", label)
            writer.member("fingerprint", fingerprint)
        }
    }
}
