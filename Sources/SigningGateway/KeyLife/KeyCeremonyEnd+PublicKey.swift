import Base64
public import Crypto
import SigningKit

/// The public key of a token that stores no public key object. The gateway needs it to verify the key's proof.
extension KeyCeremonyEnd {
    /// The name of the evidence: the SubjectPublicKeyInfo in Base64.
    private static let publicKeyName = "publicKey"

    /// With the public key, for the end of an import into such a token.
    public func with(_ publicKey: P256.Signing.PublicKey) -> KeyCeremonyEnd {
        var end = self
        let text = Base64.standard.encode(publicKey.derRepresentation)
        end.evidence[Self.publicKeyName] = String(decoding: text, as: UTF8.self)
        return end
    }

    /// In X9.63 form; nil where the worker gave none, or another key than the one that the work is about.
    func publicKey(of fingerprint: PublicKeyFingerprint?) -> [UInt8]? {
        guard let text = evidence[Self.publicKeyName], let der = Base64.standard.decode(text.utf8),
            let key = P256.Signing.PublicKey(subjectPublicKeyInfo: der), PublicKeyFingerprint(of: key) == fingerprint
        else { return nil }
        return Array(key.x963Representation)
    }
}
