import SigningKit

/// A proof of possession that a key signed just before a change.
struct FreshPossessionProof: Sendable {
    let keyID: String
    let fingerprint: PublicKeyFingerprint
}
