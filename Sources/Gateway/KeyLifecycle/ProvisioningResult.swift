public import Crypto
import Encodings
public import SigningKit
public import StrictJSON

/// The result of a job as reported by the administrator who did the work.
public struct ProvisioningResult: Codable, Sendable, Equatable {
    /// Whether the key is there and has signed a proof, or a search has shown that it is gone.
    public var isSuccess: Bool
    /// The place that the result is about; nil for a job with one place.
    public var uri: String?
    public var fingerprint: PublicKeyFingerprint?
    /// For a failure: whether the token may have changed, so that the job stays open.
    public var mayHaveChanged: Bool?
    /// The evidence or the error by name, such as `tokenSerial`, `method`, `CKA_EXTRACTABLE`.
    @OmittedIfEmpty public var evidence: [String: String]

    private enum CodingKeys: String, ClosedCodingKey {
        case isSuccess = "succeeded"
        case uri, fingerprint, mayHaveChanged, evidence
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

extension ProvisioningResult {
    /// Truncates the values to the limit of the register, because messages of a library or a token may be longer.
    public func shortened() -> ProvisioningResult {
        var end = self
        end.evidence = evidence.mapValues { value in
            var scalars = String.UnicodeScalarView()
            var count = 0
            for scalar in value.unicodeScalars {
                let scalar = scalar.properties.generalCategory == .control ? " " : scalar
                count += Character(scalar).utf8.count
                guard count <= KeyLifecycleLimits.evidenceValue else { break }
                scalars.append(scalar)
            }
            return String(scalars)
        }
        return end
    }
}
