import Crypto
import SigningKit

/// Verifies signatures up to a maximum number. A verification takes about 50 µs in a release build.
struct Verifier {
    private let keys: [P256.Signing.PublicKey]
    private(set) var count = 0
    private let maximum: Int

    init(keys: [CandidateKey], maximum: Int) {
        self.keys = keys.map(\.publicKey)
        self.maximum = maximum
    }

    var isExhausted: Bool { count >= maximum || keys.isEmpty }

    /// Whether the key at `index` verifies `signature` over `digest`; false after the maximum number.
    mutating func verifies(_ signature: P256.Signing.ECDSASignature, _ digest: RawDigest, key index: Int) -> Bool {
        guard !isExhausted else { return false }
        count += 1
        return keys[index].isValidSignature(signature, for: digest)
    }
}

extension P256Signature {
    /// The signature as a swift-crypto type. It is never nil, because 64 bytes are always accepted.
    var forVerifying: P256.Signing.ECDSASignature? { try? .init(rawRepresentation: bytes) }
}
