package import Crypto
package import SigningKit
import Synchronization

/// Verifies signatures with swift-crypto. No key signs with this implementation, so one defect cannot be in both.
package struct SignatureVerifier: Sendable {
    let publicKey: P256.Signing.PublicKey
    private let mode: VerificationMode
    private let counter = Counter()

    package init(_ publicKey: P256.Signing.PublicKey, mode: VerificationMode) {
        self.publicKey = publicKey
        self.mode = mode
    }

    /// Whether the mode requires verification of this signature.
    func isDue(suspicious: Bool) -> Bool {
        switch mode {
        case .always: true
        case .off: suspicious
        case .sampled(let every): suspicious || counter.next() % max(1, every) == 0
        }
    }

    package func isValid(_ signature: P256Signature, for digest: SHA256Digest) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else { return false }
        return publicKey.isValidSignature(signature, for: digest)
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)
        func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max }
    }
}

/// Whether a key had a verification failure. New configuration snapshots keep the flag while the connection stays.
final class VerificationFailureFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
