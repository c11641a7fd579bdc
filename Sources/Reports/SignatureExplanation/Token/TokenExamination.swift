import SigningKit

struct TokenExamination {
    let token: [UInt8]
    /// The expected bundle ID, if any.
    let app: String?
    let keys: [CandidateKey]
    let now: Timestamp
    let maximumVerifications: Int

    func explanation(isSearching: Bool) -> Explanation {
        let reading = TokenReading(token)
        let header = reading.header.map { HeaderCheck($0) }
        let claims = reading.payload.map { ClaimsCheck($0, app: app, now: now) }
        let isSwapped = isKeyIDSwapped(header?.keyID, claims?.issuerID)
        // With another algorithm there is no ECDSA signature, so this finding precedes those about the signature.
        let ofHeader = header?.findings ?? []
        let form =
            ofHeader.filter { $0.code == .headerAlgorithm } + reading.findings
            + ofHeader.filter { $0.code != .headerAlgorithm } + (claims?.findings ?? [])
            + Self.identifiers(keyID: header?.keyID, issuerID: claims?.issuerID, isSwapped: isSwapped)
        let seen = Examined(
            reading: reading, audience: claims?.audience, keyID: isSwapped ? claims?.issuerID : header?.keyID,
            form: form)
        guard let signature = reading.signature else {
            return explanation(seen, isSearching ? .unexplained : .unverified, form, key: nil, count: 0)
        }
        let ranking = KeyRanking(keys, named: seen.keyID)
        var verifier = Verifier(keys: keys, maximum: maximumVerifications)
        for candidate in signature.candidates {
            var search = TokenSearch(candidate, ranking: ranking, verifier: verifier)
            if let key = search.direct(reading.signingInput) {
                let proven = signature.findings.map { $0.with(.proven) } + keyFindings(key, seen)
                let hasError = proven.contains { $0.severity == .error }
                return explanation(
                    seen, hasError ? .explained : .verified, proven + form, key: key, count: search.verifier.count)
            }
            verifier = search.verifier
        }
        return isSearching
            ? searched(seen, signature, ranking, verifier)
            : explanation(seen, .unverified, form + signature.findings, key: nil, count: verifier.count)
    }

    private struct Examined {
        let reading: TokenReading
        let audience: TokenAudience?
        /// From the claim `iss` if key ID and issuer ID were swapped.
        let keyID: String?
        let form: [Finding]
    }

    private func searched(
        _ seen: Examined, _ signature: SignatureReading, _ ranking: KeyRanking, _ verifier: Verifier
    ) -> Explanation {
        let variants = SigningInputVariants(
            header: seen.reading.header ?? [], payload: seen.reading.payload ?? [], reading: seen.reading,
            keyIDs: keys.compactMap(\.keyID))
        var verifier = verifier
        for candidate in signature.candidates {
            var search = TokenSearch(candidate, ranking: ranking, verifier: verifier)
            if let hit = search.search(variants.all()) {
                let findings =
                    hit.findings + signature.findings.map { $0.with(.proven) } + keyFindings(hit.key, seen) + seen.form
                return explanation(seen, .explained, findings, key: hit.key, count: search.verifier.count)
            }
            verifier = search.verifier
        }
        let last = UnexplainedSignature.finding(keys: keys, named: seen.keyID, verifier: verifier)
        return explanation(
            seen, .unexplained, seen.form + signature.findings + [last], key: nil, count: verifier.count)
    }

    private func keyFindings(_ key: Int, _ seen: Examined) -> [Finding] {
        KeyRanking.findings(verifying: keys[key], named: seen.keyID, among: keys, field: "kid")
    }

    /// Whether key ID and issuer ID were swapped: the issuer ID is not a UUID, and either the key ID is one, or only
    /// the issuer ID is the ID of a key.
    private func isKeyIDSwapped(_ keyID: String?, _ issuerID: String?) -> Bool {
        guard let keyID, let issuerID, !UUIDText.isUUID(issuerID) else { return false }
        let ids = keys.compactMap(\.keyID)
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

    private func explanation(
        _ seen: Examined, _ outcome: Explanation.Outcome, _ findings: [Finding], key: Int?, count: Int
    ) -> Explanation {
        var rendering: SigningInputRendering?
        if let header = seen.reading.header, let payload = seen.reading.payload {
            rendering = SigningInputRendering(header: header, payload: payload, signingInput: seen.reading.signingInput)
        }
        return Explanation(
            kind: .jws(audience: seen.audience), outcome: outcome, findings: findings, key: key.map { keys[$0] },
            keys: keys, signingInput: rendering, verifications: count)
    }
}
