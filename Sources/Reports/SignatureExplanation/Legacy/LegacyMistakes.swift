import Crypto
import Encodings

/// The known mistakes, applied to one answer.
struct LegacyMistakes {
    /// A way to sign a field, for the sentence `<field> was signed <how>.`
    typealias Signed = (code: FindingCode, rank: KnownMistake.Rank, text: String, how: String)

    let answer: LegacyAnswer
    /// The correct text.
    let text: LegacyText
    /// The mistakes that change the digest, common ones first.
    private(set) var all: [KnownMistake] = []

    init(_ answer: LegacyAnswer, keys: [CandidateKey]) {
        self.answer = answer
        text = LegacyText(answer)
        let right = text.digest
        let mistakes =
            nonce() + user() + timestamp() + order() + separators() + words()
            + keys.compactMap(\.keyID).filter { $0 != answer.keyID }.map(otherKeyID)
            + LegacyField.allCases.flatMap(contents) + whole() + digests()
        all =
            mistakes
            .filter { mistake in
                var changed = text
                mistake.apply(&changed)
                return changed.digest != right
            }
            .enumerated()
            .sorted { ($0.element.rank.rawValue, $0.offset) < ($1.element.rank.rawValue, $1.offset) }
            .map(\.element)
    }

    func name(_ field: LegacyField) -> String { answer.name(of: field) }

    /// A mistake that replaces `field` with `text`.
    func mistake(
        _ code: FindingCode, _ rank: KnownMistake.Rank, _ field: LegacyField, signed text: String, _ message: String
    ) -> KnownMistake {
        KnownMistake(code, rank, [.field(field)], in: name(field), message) { $0[field] = text }
    }

    func signed(_ field: LegacyField, _ ways: [Signed]) -> [KnownMistake] {
        ways.map { mistake($0.code, $0.rank, field, signed: $0.text, "\(name(field)) was signed \($0.how).") }
    }

    // MARK: Nonce

    private func nonce() -> [KnownMistake] {
        let lower = "Apple verifies with its lower-case text"
        return signed(
            .nonce,
            [
                (.nonceUpperCase, .common, text[.nonce].uppercased(), "in upper case; \(lower)"),
                (.nonceUpperCase, .common, answer.nonce, "with the upper-case letters of the answer; \(lower)"),
            ]) + uuidForms(.nonce)
    }

    private func uuidForms(_ field: LegacyField) -> [KnownMistake] {
        guard UUIDText.isUUID(text[field]) else { return [] }
        let bare = text[field].filter { $0 != "-" }
        let dashes = "without the dashes of the UUID"
        return signed(
            field,
            [
                (.uuidWithoutDashes, .plausible, bare, dashes),
                (.uuidWithoutDashes, .rare, bare.uppercased(), "in upper case and \(dashes)"),
                (.uuidInBraces, .rare, "{\(text[field])}", "in braces"),
            ])
    }

    // MARK: User

    private func user() -> [KnownMistake] {
        let others = answer.otherUser.map { [$0, $0.lowercased()] } ?? []
        return others.map {
            let message = "The user's other name was signed, not \(name(.user))."
            return mistake(.userOtherField, .common, .user, signed: $0, message)
        } + namedUser()
    }

    private func namedUser() -> [KnownMistake] {
        let empty = mistake(
            .fieldEmpty, .common, .user, signed: "",
            "The user's field was empty when it was signed, but \(name(.user)) was given.")
        switch answer.user {
        case .nobody:
            return [
                mistake(
                    .fieldNull, .plausible, .user, signed: "00000000-0000-0000-0000-000000000000",
                    "A UUID of zeros was signed where the user's field is empty.")
            ]
        case .appAccountToken(let token):
            let how = "with upper-case letters; Apple verifies with its lower-case text"
            let ways = [token, token.uppercased()].map {
                (FindingCode.accountTokenUpperCase, KnownMistake.Rank.common, $0, how)
            }
            return signed(.user, ways) + [empty] + uuidForms(.user)
        case .applicationUsername(let name):
            let lower =
                "in lower case, as if it were an appAccountToken; Apple verifies with the text that the app gives, "
                + "case and all"
            let ways: [Signed] = [
                (.userNameLowerCase, .common, name.lowercased(), lower),
                (.fieldCase, .rare, name.uppercased(), "in upper case"),
            ]
            return signed(.user, ways) + [empty] + hashes(of: Array(name.utf8))
        }
    }

    private func hashes(of name: [UInt8]) -> [KnownMistake] {
        [
            ("SHA-256", Hexadecimal.encode(SHA256.hash(data: name))),
            ("SHA-1", Hexadecimal.encode(Insecure.SHA1.hash(data: name))),
            ("MD5", Hexadecimal.encode(Insecure.MD5.hash(data: name))),
        ].map { hash, digits in
            mistake(
                .userNameHashed, .rare, .user, signed: digits,
                "The \(hash) of applicationUsername was signed, not applicationUsername itself.")
        }
    }
}
