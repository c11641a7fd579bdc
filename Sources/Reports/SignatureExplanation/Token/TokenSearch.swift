import SigningKit

/// Searches for the signing input, the digest and the key of a token's signature.
struct TokenSearch {
    struct Hit {
        let findings: [Finding]
        /// The index of the key.
        let key: Int
    }

    let signature: P256Signature
    let ranking: KeyRanking
    private(set) var verifier: Verifier
    private var tried: Set<[UInt8]> = []

    init(_ signature: P256Signature, ranking: KeyRanking, verifier: Verifier) {
        self.signature = signature
        self.ranking = ranking
        self.verifier = verifier
    }

    /// The index of the key that verifies the first two parts of the token as received; nil if no key does.
    mutating func direct(_ signingInput: [UInt8]) -> Int? {
        guard let form = signature.forVerifying else { return nil }
        return ranking.all.first { verifier.verifies(form, DigestForm.sha256.apply(signingInput), key: $0) }
    }

    /// Tries every variant with the correct digest, then with the other digests; then the same with r and s changed.
    mutating func search(_ variants: [SigningInputVariant]) -> Hit? {
        let forms: [(P256Signature?, Finding?)] = [
            (signature, nil),
            (
                signature.withHalvesSwapped,
                Finding(
                    .signatureHalvesSwapped, .error, .proven, field: "signature", "The signature is s ‖ r, not r ‖ s.")
            ),
            (
                signature.withBytesReversed,
                Finding(
                    .signatureLittleEndian, .error, .proven, field: "signature",
                    "The two numbers of the signature are little-endian.")
            ),
        ]
        for (form, finding) in forms {
            tried = []
            guard let form else { continue }
            for digest in DigestForm.allCases {
                for variant in variants {
                    guard let key = verify(form, digest.apply(variant.bytes)) else { continue }
                    let causes = [variant.finding, digest.finding?.with(.proven), finding]
                    return Hit(findings: causes.compactMap { $0 }, key: key)
                }
            }
        }
        return nil
    }

    private mutating func verify(_ signature: P256Signature, _ digest: RawDigest) -> Int? {
        guard !verifier.isExhausted, tried.insert(digest.bytes).inserted, let form = signature.forVerifying else {
            return nil
        }
        return ranking.all.first { verifier.verifies(form, digest, key: $0) }
    }
}
