/// The known mistakes, made out for one answer: only those that change its text.
struct LegacySlips {
    let answer: LegacyAnswer
    let text: LegacyText
    let keyIDs: [String]

    init(_ answer: LegacyAnswer, keys: [CandidateKey]) {
        self.answer = answer
        text = LegacyText(answer)
        keyIDs = keys.compactMap(\.keyID)
    }

    /// Common ones first; none that leaves the bytes as they are.
    func all() -> [Slip] {
        let slips = nonce() + user() + timestamp() + order() + separators() + words() + contents() + whole() + digests()
        let right = text.digest.apply(text.bytes)
        return
            slips
            .filter { slip in
                var changed = text
                slip.apply(&changed)
                return changed.digest.apply(changed.bytes) != right
            }
            .enumerated()
            .sorted { ($0.element.rank.rawValue, $0.offset) < ($1.element.rank.rawValue, $1.offset) }
            .map(\.element)
    }

    func name(_ field: LegacyField) -> String { field.name(in: answer) }

    /// A slip in one field.
    func slip(
        _ code: FindingCode, _ rank: Slip.Rank, _ field: LegacyField, signed text: String, _ message: String
    ) -> Slip {
        Slip(code, rank, field, of: answer, signed: text, message)
    }
}
