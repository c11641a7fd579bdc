import SigningKit

struct LegacyExamination {
    let answer: LegacyAnswer
    let keys: [CandidateKey]
    let now: Timestamp
    let maximumVerifications: Int

    func explanation(isSearching: Bool) -> Explanation {
        let text = LegacyText(answer)
        var form = LegacyFormCheck(answer: answer, now: now).findings()
        let reading = SignatureReading(Array(answer.signature.utf8), wanted: .der)
        if reading == nil { form.append(unreadable()) }
        let examination = Examination(
            kind: .legacyPromotionalOffer, keys: keys, maximumVerifications: maximumVerifications,
            keyID: answer.keyID, keyIDField: "keyIdentifier", reading: reading, signingInput: text.bytes,
            rendering: SigningInputRendering(text, of: answer), form: form)
        guard isSearching else { return examination.explanation(nil) }
        let mistakes = LegacyMistakes(answer, keys: keys)
        return examination.explanation { signature, ranking, verifier in
            var search = LegacySearch(mistakes, signature, ranking: ranking, verifier: verifier)
            return search.hit()
        }
    }

    private func unreadable() -> Finding {
        Finding(
            .signatureUnreadable, field: "signature",
            "The signature holds no ECDSA signature: \(answer.signature.utf8.count) characters that are neither DER nor 64 bytes in any Base64, nor hexadecimal."
        )
    }
}
