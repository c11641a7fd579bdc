public import Crypto
import Encodings
public import SigningKit
public import StrictJSON

/// An order to begin a provisioning job.
public struct ProvisioningOrder: Codable, Sendable, Equatable {
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String

    private enum CodingKeys: String, ClosedCodingKey {
        case action
        case issuerID = "issuerId"
        case keyID = "keyId"
        case uri, fingerprint, reason
    }

    public init(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, uri: String, fingerprint: PublicKeyFingerprint?,
        reason: String
    ) {
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.uri = uri
        self.fingerprint = fingerprint
        self.reason = reason
    }
}

/// The result of a job as reported by the administrator who did the work.
public struct ProvisioningResult: Codable, Sendable, Equatable {
    /// Whether the key is there and has signed a proof, or a search has shown that it is gone.
    public var isSuccess: Bool
    public var fingerprint: PublicKeyFingerprint?
    /// The evidence or the error by name, such as `tokenSerial`, `method`, `CKA_EXTRACTABLE`.
    @OmittedIfEmpty public var evidence: [String: String]

    private enum CodingKeys: String, ClosedCodingKey {
        case isSuccess = "succeeded"
        case fingerprint, evidence
    }

    public init(isSuccess: Bool, fingerprint: PublicKeyFingerprint?, evidence: [String: String]) {
        self.isSuccess = isSuccess
        self.fingerprint = fingerprint
        self.evidence = evidence
    }

    /// The evidence for the register. The prefix `reported.` marks what the gateway did not see itself.
    var reported: [String: String] {
        Dictionary(evidence.map { ("reported.\($0.key)", $0.value) }) { first, _ in first }
    }
}

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
