import SigningKit

struct LegacyExamination {
    let answer: LegacyAnswer
    let examiner: SignatureExaminer

    func explanation(isSearching: Bool) -> Explanation {
        let text = LegacyText(answer)
        var form = LegacyFormCheck(answer: answer, now: examiner.now).findings()
        let reading = SignatureReading(Array(answer.signature.utf8), wanted: .der)
        if reading == nil { form.append(unreadable()) }
        let examination = Examination(
            examiner: examiner, kind: .legacyPromotionalOffer, keyID: answer.keyID, keyIDField: "keyIdentifier",
            reading: reading, signingInput: text.bytes,
            rendering: SigningInputRendering(text, of: answer), form: form)
        guard isSearching else { return examination.explanation(nil) }
        let mistakes = LegacyMistakes(answer, keys: examiner.keys)
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
