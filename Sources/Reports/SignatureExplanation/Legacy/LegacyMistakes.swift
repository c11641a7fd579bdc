/// The known mistakes, applied to one answer.
struct LegacyMistakes {
    let answer: LegacyAnswer
    let text: LegacyText
    let keyIDs: [String]

    init(_ answer: LegacyAnswer, keys: [CandidateKey]) {
        self.answer = answer
        text = LegacyText(answer)
        keyIDs = keys.compactMap(\.keyID)
    }

    /// The mistakes that change the digest, common ones first.
    func all() -> [KnownMistake] {
        let mistakes =
            nonce() + user() + timestamp() + order() + separators() + words() + contents() + whole() + digests()
        let right = text.digest.apply(text.bytes)
        return
            mistakes
            .filter { mistake in
                var changed = text
                mistake.apply(&changed)
                return changed.digest.apply(changed.bytes) != right
            }
            .enumerated()
            .sorted { ($0.element.rank.rawValue, $0.offset) < ($1.element.rank.rawValue, $1.offset) }
            .map(\.element)
    }

    func name(_ field: LegacyField) -> String { field.name(in: answer) }

    /// A mistake that replaces `field` with `text`.
    func mistake(
        _ code: FindingCode, _ rank: KnownMistake.Rank, _ field: LegacyField, signed text: String, _ message: String
    ) -> KnownMistake {
        KnownMistake(Finding(code, field: name(field), message), rank, field.affectedPart) { $0[field] = text }
    }
}
