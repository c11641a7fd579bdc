import Crypto
import SigningKit

/// Verifies signatures with several keys, up to a maximum number. A verification takes about 50 µs in a release build.
final class Verifier {
    private let keys: [P256.Signing.PublicKey]
    var maximum: Int
    /// The indices of the keys with the named ID. If there are none, of the keys without an ID; else of all keys.
    private let named: [Int]
    /// The indices of all keys, the named ones first.
    private let all: [Int]
    private(set) var count = 0

    /// - Parameter keyID: The ID that the signature names.
    init(_ keys: [CandidateKey], named keyID: String?, maximum: Int) {
        self.keys = keys.map(\.publicKey)
        self.maximum = maximum
        let exact = keys.indices.filter { keyID != nil && keys[$0].keyID == keyID }
        let nameless = keys.indices.filter { keys[$0].keyID == nil }
        let named = !exact.isEmpty ? exact : !nameless.isEmpty ? nameless : Array(keys.indices)
        self.named = named
        all = named + keys.indices.filter { !named.contains($0) }
    }

    var isExhausted: Bool { count >= maximum || keys.isEmpty }

    /// The first key that verifies `signature` over `digest`; nil after the maximum number.
    ///
    /// - Parameter onlyNamed: Whether to try only the keys that the signature names.
    func key(verifying signature: P256Signature, _ digest: RawDigest, onlyNamed: Bool = false) -> Int? {
        // Never nil, because swift-crypto accepts any 64 bytes.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else { return nil }
        return (onlyNamed ? named : all).first { index in
            guard !isExhausted else { return false }
            count += 1
            return keys[index].isValidSignature(signature, for: digest)
        }
    }
}
