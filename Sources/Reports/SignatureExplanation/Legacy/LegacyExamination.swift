import SigningKit

struct LegacyExamination {
    let answer: LegacyAnswer
    let keys: [CandidateKey]
    let now: Timestamp
    let maximumVerifications: Int

    func explanation(isSearching: Bool) -> Explanation {
        let form = LegacyFormCheck(answer: answer, now: now).findings()
        guard let reading = SignatureReading(Array(answer.signature.utf8), wanted: .der) else {
            return explanation(isSearching ? .unexplained : .unverified, form + [unreadable()], key: nil, count: 0)
        }
        let text = LegacyText(answer)
        let ranking = KeyRanking(keys, named: answer.keyID)
        var verifier = Verifier(keys: keys, maximum: maximumVerifications)
        for candidate in reading.candidates {
            var search = LegacySearch(text, candidate, ranking: ranking, verifier: verifier)
            if let key = search.direct() {
                return direct(key, reading, form, count: search.verifier.count)
            }
            verifier = search.verifier
        }
        guard isSearching else {
            return explanation(.unverified, form + reading.findings, key: nil, count: verifier.count)
        }
        for candidate in reading.candidates {
            var search = LegacySearch(text, candidate, ranking: ranking, verifier: verifier)
            if let hit = search.search(LegacyMistakes(answer, keys: keys)) {
                return found(hit, reading, form, count: search.verifier.count)
            }
            verifier = search.verifier
        }
        let last = UnexplainedSignature.finding(keys: keys, named: answer.keyID, verifier: verifier)
        return explanation(.unexplained, form + reading.findings + [last], key: nil, count: verifier.count)
    }

    private func found(
        _ hit: LegacySearch.Hit, _ reading: SignatureReading, _ form: [Finding], count: Int
    ) -> Explanation {
        let proven = hit.mistakes.map(\.finding) + [hit.rsChange].compactMap { $0 }
        return explanation(
            .explained,
            proven + reading.findings.map { $0.with(.proven) } + keyFindings(hit.key) + remaining(form, after: proven),
            key: hit.key, count: count)
    }

    /// The text is right. The key or the encoding of the signature may still be wrong.
    private func direct(_ key: Int, _ reading: SignatureReading, _ form: [Finding], count: Int) -> Explanation {
        let proven = reading.findings.map { $0.with(.proven) } + keyFindings(key)
        let hasError = proven.contains { $0.severity == .error }
        return explanation(hasError ? .explained : .verified, proven + form, key: key, count: count)
    }

    private func keyFindings(_ key: Int) -> [Finding] {
        KeyRanking.findings(verifying: keys[key], named: answer.keyID, among: keys, field: "keyIdentifier")
    }

    /// The findings about the form, without errors in fields that have a proven finding.
    private func remaining(_ form: [Finding], after proven: [Finding]) -> [Finding] {
        form.filter { seen in seen.severity != .error || !proven.contains { $0.field == seen.field } }
    }

    private func unreadable() -> Finding {
        Finding(
            .signatureUnreadable, field: "signature",
            "The signature holds no ECDSA signature: \(answer.signature.utf8.count) characters that are neither DER nor 64 bytes in any Base64, nor hexadecimal."
        )
    }

    private func explanation(
        _ outcome: Explanation.Outcome, _ findings: [Finding], key: Int?, count: Int
    ) -> Explanation {
        Explanation(
            kind: .legacyPromotionalOffer, outcome: outcome, findings: findings, key: key.map { keys[$0] }, keys: keys,
            signingInput: SigningInputRendering(LegacyText(answer), of: answer), verifications: count)
    }
}
