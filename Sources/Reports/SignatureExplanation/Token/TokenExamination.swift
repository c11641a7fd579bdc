import Encodings
import SigningKit

struct TokenExamination {
    let token: [UInt8]
    /// The expected bundle ID, if any.
    let app: String?
    let examiner: SignatureExaminer

    func explanation(isSearching: Bool) -> Explanation {
        let reading = TokenReading(token)
        let header = reading.header.map { HeaderCheck($0) }
        let claims = reading.payload.map { ClaimsCheck($0, audiences: examiner.audiences, app: app, now: examiner.now) }
        let isSwapped = isKeyIDSwapped(header?.keyID, claims?.issuerID)
        // With another algorithm there is no ECDSA signature, so this finding precedes those about the signature.
        let ofHeader = header?.findings ?? []
        let form =
            ofHeader.filter { $0.code == .headerAlgorithm } + reading.findings
            + ofHeader.filter { $0.code != .headerAlgorithm } + (claims?.findings ?? [])
            + Self.identifiers(keyID: header?.keyID, issuerID: claims?.issuerID, isSwapped: isSwapped)
        var rendering: SigningInputRendering?
        if let header = reading.header, let payload = reading.payload {
            rendering = SigningInputRendering(header: header, payload: payload, signingInput: reading.signingInput)
        }
        let examination = Examination(
            examiner: examiner, kind: .jws(audience: claims?.audience?.id),
            keyID: isSwapped ? claims?.issuerID : header?.keyID, keyIDField: "kid", reading: reading.signature,
            signingInput: reading.signingInput, rendering: rendering, form: form)
        guard isSearching else { return examination.explanation(nil) }
        let variants = SigningInputVariants(
            header: reading.header ?? [], payload: reading.payload ?? [], reading: reading,
            keyIDs: examiner.keys.compactMap(\.keyID)
        ).all()
        return examination.explanation { Self.hit($0, over: variants, ranking: $1, verifier: $2) }
    }

    /// Tries every variant with the correct digest, then with the other digests; then the same with r and s reordered.
    private static func hit(
        _ signature: P256Signature, over variants: [SigningInputVariant], ranking: KeyRanking, verifier: Verifier
    ) -> Examination.Hit? {
        let forms: [(P256Signature, Finding?)] =
            [(signature, nil)] + signature.reordered.map { ($0.signature, $0.finding) }
        for (signature, finding) in forms {
            var tried: Set<[UInt8]> = []
            for form in DigestForm.allCases {
                for variant in variants {
                    let digest = form.apply(variant.bytes)
                    guard tried.insert(digest.bytes).inserted,
                        let key = verifier.key(verifying: signature, digest, among: ranking.all)
                    else { continue }
                    let findings = [variant.finding, form.finding?.with(.proven), finding].compactMap(\.self)
                    return Examination.Hit(findings: findings, key: key)
                }
            }
        }
        return nil
    }

    /// Whether key ID and issuer ID were swapped: the issuer ID is not a UUID, and either the key ID is one, or only
    /// the issuer ID is the ID of a key.
    private func isKeyIDSwapped(_ keyID: String?, _ issuerID: String?) -> Bool {
        guard let keyID, let issuerID, !UUIDText.isUUID(issuerID) else { return false }
        let ids = examiner.keys.compactMap(\.keyID)
        return UUIDText.isUUID(keyID) || ids.contains(issuerID) && !ids.contains(keyID)
    }

    private static func identifiers(keyID: String?, issuerID: String?, isSwapped: Bool) -> [Finding] {
        guard let keyID else { return [] }
        if isSwapped, let issuerID {
            return [
                Finding(
                    .keyIssuerSwapped, field: "kid",
                    "The header's kid is \(keyID) and the claim iss is \(issuerID): the key ID and the issuer ID were swapped."
                )
            ]
        }
        return TimestampCheck.keyID(keyID, field: "kid")
    }
}
