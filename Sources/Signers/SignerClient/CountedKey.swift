import Crypto
import SigningKit

/// A key in this process. It counts its signatures, as a key in a signer does.
struct CountedKey: SigningKey {
    private let key: any SigningKey

    init(_ key: any SigningKey) {
        self.key = key
    }

    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var custody: KeyCustody { key.custody }
    var tokenSerial: String? { key.tokenSerial }
    var proofSchedule: ProofSchedule { key.proofSchedule }
    var signsInCaller: Bool { key.signsInCaller }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        let signature = try await key.sign(digest)
        SignatureCounts.shared.noteReturned()
        return signature
    }

    func madeWrongSignature() { key.madeWrongSignature() }
    func endFailurePause() { key.endFailurePause() }
}
