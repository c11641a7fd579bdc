import Crypto
import SigningKit

/// Verifies, counts, and stops when the bound is reached. About 50 µs a time in a release build.
struct Verifier {
    private let keys: [P256.Signing.PublicKey]
    private(set) var count = 0
    private let maximum: Int

    init(keys: [CandidateKey], maximum: Int) {
        self.keys = keys.map(\.publicKey)
        self.maximum = maximum
    }

    var isExhausted: Bool { count >= maximum || keys.isEmpty }

    /// Whether the key at `index` made `signature` over `digest`; false once the bound is reached.
    mutating func verifies(_ signature: P256.Signing.ECDSASignature, _ digest: RawDigest, key index: Int) -> Bool {
        guard !isExhausted else { return false }
        count += 1
        return keys[index].isValidSignature(signature, for: digest)
    }
}

extension P256Signature {
    /// The same signature, as swift-crypto takes it; nil never, for 64 bytes are what it asks for.
    var forVerifying: P256.Signing.ECDSASignature? { try? .init(rawRepresentation: bytes) }
}
