import SigningKit

/// A proof of possession that a key signed for one change, just before it.
struct FreshProof: Sendable {
    let keyID: String
    let fingerprint: PublicKeyFingerprint
}
