import Crypto
import SignerProtocol
import SigningKit

/// A key in signer processes.
final class SignerKey: SigningKey {
    let publicKey: P256.Signing.PublicKey
    let custody: KeyCustody
    let tokenSerial: String?
    let proofSchedule: ProofSchedule
    private let number: UInt32
    private let pool: SignerPool
    private let timeout: Duration
    /// The backend finds a call that hangs so long before `timeout`.
    static let margin = Duration.seconds(2)

    init(_ found: FoundKeyAnswer, number: UInt32, pool: SignerPool, timeout: Duration) {
        publicKey = found.publicKey
        (custody, tokenSerial, proofSchedule) = (found.custody, found.tokenSerial?.shortened, found.proofSchedule)
        self.number = number
        self.pool = pool
        self.timeout = timeout
    }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        let signature = try await pool.sign(digest, with: number, within: timeout)
        SignatureCounts.shared.noteReturned()
        return signature
    }

    func madeWrongSignature() {
        pool.replace(
            becauseOf: number,
            .failed("The signer \(pool.settings.name) made a signature that does not verify; it was replaced."))
    }

    deinit {
        pool.forget(number)
    }

    func endFailurePause() { pool.endFailurePause(number) }
}
