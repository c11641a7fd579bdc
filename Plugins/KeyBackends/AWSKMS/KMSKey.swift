import Crypto
import Encodings
import SigningKit

/// A P-256 key in AWS KMS. Each signature is a call over the network.
final class KMSKey: SigningKey {
    let publicKey: P256.Signing.PublicKey
    var custody: KeyCustody { .service }
    var proofSchedule: ProofSchedule { location.settings.proofSchedule }

    /// The key's ARN. An alias is resolved once, because it may name another key later.
    private let arn: String
    /// The key's name in the configuration.
    private let name: String
    private let location: KMSLocation

    init(_ publicKey: P256.Signing.PublicKey, arn: String, name: String, in location: KMSLocation) {
        (self.publicKey, self.arn, self.name, self.location) = (publicKey, arn, name, location)
    }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        try await location.gate.pass { () async throws(KeyError) in
            do throws(KeyError) {
                let signature = try await signature(digest)
                location.note(nil)
                return signature
            } catch {
                if case .unavailable = error { location.note(error) }
                throw error
            }
        }
    }

    private func signature(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        let call = Sign(keyID: arn, message: Base64.standard.text(Array(digest)))
        let answer: Sign.Answer
        do throws(KMSFailure) {
            answer = try await location.client.call(call, by: .now + location.settings.timeout)
        } catch {
            throw error.whileSigning(name)
        }
        guard answer.keyID == arn, answer.signingAlgorithm == Sign.algorithm else {
            throw .failed("AWS KMS answered with the signature of another key or algorithm than the ordered one.")
        }
        guard let der = Base64.standard.decode(answer.signature.utf8),
            let signature = P256Signature(derRepresentation: der)
        else { throw .failed("AWS KMS answered with a signature that is not an Ecdsa-Sig-Value in DER.") }
        return signature
    }
}

extension KMSKey: CustomStringConvertible, CustomReflectable {
    var description: String { "KMSKey \(arn)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
