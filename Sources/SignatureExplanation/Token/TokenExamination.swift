import SigningKit

/// Examines a compact JWS.
struct TokenExamination {
    let token: [UInt8]
    /// The bundle ID that is expected, if any.
    let app: String?
    let keys: [CandidateKey]
    let now: Timestamp
    let maximumVerifications: Int

    func explanation(isSearching: Bool) -> Explanation {
        let reading = TokenReading(token)
        let header = reading.header.map { HeaderCheck($0) }
        let claims = reading.payload.map { ClaimsCheck($0, app: app, now: now) }
        let form =
            reading.findings + (header?.findings ?? []) + (claims?.findings ?? [])
            + Self.identifiers(keyID: header?.keyID, issuerID: claims?.issuerID)
        let seen = Examined(reading: reading, audience: claims?.audience, keyID: header?.keyID, form: form)
        guard let signature = reading.signature else {
            return explanation(seen, isSearching ? .unexplained : .unverified, form, key: nil, count: 0)
        }
        var search = TokenSearch(
            signature.signature, ranking: KeyRanking(keys, named: seen.keyID),
            verifier: Verifier(keys: keys, maximum: maximumVerifications))
        if let key = search.direct(reading.signingInput) {
            let proven = signature.findings.map { $0.with(.proven) } + keyFindings(key, seen)
            let hasError = proven.contains { $0.severity == .error }
            return explanation(
                seen, hasError ? .explained : .verified, proven + form, key: key, count: search.verifier.count)
        }
        return isSearching
            ? searched(&search, seen, signature)
            : explanation(seen, .unverified, form + signature.findings, key: nil, count: search.verifier.count)
    }

    /// What was read of the token.
    private struct Examined {
        let reading: TokenReading
        let audience: TokenAudience?
        let keyID: String?
        let form: [Finding]
    }

    private func searched(
        _ search: inout TokenSearch, _ seen: Examined, _ signature: SignatureReading
    ) -> Explanation {
        let variants = SigningInputVariants(
            header: seen.reading.header ?? [], payload: seen.reading.payload ?? [], reading: seen.reading,
            keyIDs: keys.compactMap(\.keyID))
        guard let hit = search.search(variants.all()) else {
            let last = Unexplained.finding(keys: keys, named: seen.keyID, verifier: search.verifier)
            return explanation(
                seen, .unexplained, seen.form + signature.findings + [last], key: nil, count: search.verifier.count)
        }
        let findings =
            hit.findings + signature.findings.map { $0.with(.proven) } + keyFindings(hit.key, seen) + seen.form
        return explanation(seen, .explained, findings, key: hit.key, count: search.verifier.count)
    }

    private func keyFindings(_ key: Int, _ seen: Examined) -> [Finding] {
        KeyRanking.findings(verifying: keys[key], named: seen.keyID, among: keys, field: "kid")
    }

    /// A key ID and an issuer ID look so different that one tells when they were mixed up.
    private static func identifiers(keyID: String?, issuerID: String?) -> [Finding] {
        guard let keyID else { return [] }
        if UUIDText.isUUID(keyID), let issuerID, !UUIDText.isUUID(issuerID) {
            return [
                Finding(
                    .keyIssuerSwapped, field: "kid",
                    "The header's kid is a UUID (\(keyID)) and the claim iss is not (\(issuerID)): the two were swapped."
                )
            ]
        }
        return MomentCheck.keyID(keyID, field: "kid")
    }

    private func explanation(
        _ seen: Examined, _ outcome: Explanation.Outcome, _ findings: [Finding], key: Int?, count: Int
    ) -> Explanation {
        var picture: SigningInputPicture?
        if let header = seen.reading.header, let payload = seen.reading.payload {
            picture = SigningInputPicture(header: header, payload: payload, signingInput: seen.reading.signingInput)
        }
        return Explanation(
            kind: .jws(audience: seen.audience), outcome: outcome, findings: findings, key: key.map { keys[$0] },
            keys: keys, signingInput: picture, verifications: count)
    }
}
