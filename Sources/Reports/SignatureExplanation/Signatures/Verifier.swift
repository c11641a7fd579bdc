import Crypto
import SigningKit

/// Verifies signatures up to a maximum number. A verification takes about 50 µs in a release build.
final class Verifier {
    private let keys: [P256.Signing.PublicKey]
    private(set) var count = 0
    private let maximum: Int

    init(keys: [CandidateKey], maximum: Int) {
        self.keys = keys.map(\.publicKey)
        self.maximum = maximum
    }

    var isExhausted: Bool { count >= maximum || keys.isEmpty }

    /// The first of the keys at `indices` that verifies `signature` over `digest`; nil after the maximum number.
    func key(verifying signature: P256Signature, _ digest: RawDigest, among indices: [Int]) -> Int? {
        // Never nil, because swift-crypto accepts any 64 bytes.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else { return nil }
        return indices.first { index in
            guard !isExhausted else { return false }
            count += 1
            return keys[index].isValidSignature(signature, for: digest)
        }
    }
}
