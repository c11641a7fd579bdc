public import Crypto
import Encodings
import SigningKit

/// The public key for a token without a public key object. The gateway needs it to verify the key's proof.
extension ProvisioningResult {
    /// The evidence with this name is the SubjectPublicKeyInfo in Base64.
    private static let publicKeyName = "publicKey"

    /// Adds the public key, for an import into such a token.
    public func with(_ publicKey: P256.Signing.PublicKey) -> ProvisioningResult {
        var end = self
        let text = Base64.standard.encode(publicKey.derRepresentation)
        end.evidence[Self.publicKeyName] = String(decoding: text, as: UTF8.self)
        return end
    }

    /// The public key in X9.63 form; nil if it is missing or has another fingerprint.
    func publicKey(of fingerprint: PublicKeyFingerprint?) -> [UInt8]? {
        guard let text = evidence[Self.publicKeyName], let der = Base64.standard.decode(text.utf8),
            let key = P256.Signing.PublicKey(subjectPublicKeyInfo: der), PublicKeyFingerprint(of: key) == fingerprint
        else { return nil }
        return Array(key.x963Representation)
    }
}
