import Crypto
import Encodings

extension LegacyMistakes {
    // MARK: Nonce

    func nonce() -> [KnownMistake] {
        var mistakes = [
            mistake(
                .nonceUpperCase, .common, .nonce, signed: text[.nonce].uppercased(),
                "The nonce was signed in upper case; Apple verifies with its lower-case text.")
        ]
        if answer.nonce != text[.nonce] {
            mistakes.append(
                mistake(
                    .nonceUpperCase, .common, .nonce, signed: answer.nonce,
                    "The nonce was signed with the upper-case letters of the answer; Apple verifies with its "
                        + "lower-case text."
                ))
        }
        return mistakes + uuidForms(.nonce)
    }

    private func uuidForms(_ field: LegacyField) -> [KnownMistake] {
        let lower = text[field]
        guard UUIDText.isUUID(lower) else { return [] }
        let bare = lower.filter { $0 != "-" }
        return [
            mistake(
                .uuidWithoutDashes, .plausible, field, signed: bare,
                "\(name(field)) was signed without the dashes of the UUID."),
            mistake(
                .uuidWithoutDashes, .rare, field, signed: bare.uppercased(),
                "\(name(field)) was signed in upper case and without the dashes of the UUID."),
            mistake(.uuidInBraces, .rare, field, signed: "{\(lower)}", "\(name(field)) was signed in braces."),
        ]
    }

    // MARK: User

    func user() -> [KnownMistake] {
        var mistakes: [KnownMistake] = []
        if let other = answer.otherUser {
            let message = "The user's other name was signed, not \(name(.user))."
            mistakes.append(mistake(.userOtherField, .common, .user, signed: other, message))
            mistakes.append(mistake(.userOtherField, .common, .user, signed: other.lowercased(), message))
        }
        switch answer.user {
        case .nobody:
            mistakes.append(
                mistake(
                    .fieldNull, .plausible, .user, signed: "00000000-0000-0000-0000-000000000000",
                    "A UUID of zeros was signed where the user's field is empty."))
        case .appAccountToken(let token): mistakes += accountToken(token)
        case .applicationUsername(let name): mistakes += username(name)
        }
        return mistakes
    }

    private func accountToken(_ token: String) -> [KnownMistake] {
        let message = "appAccountToken was signed with upper-case letters; Apple verifies with its lower-case text."
        return [
            mistake(.accountTokenUpperCase, .common, .user, signed: token, message),
            mistake(.accountTokenUpperCase, .common, .user, signed: token.uppercased(), message),
            emptyUser(),
        ] + uuidForms(.user)
    }

    private func username(_ name: String) -> [KnownMistake] {
        let bytes = Array(name.utf8)
        let hashes = [
            ("SHA-256", Hexadecimal.encode(SHA256.hash(data: bytes))),
            ("SHA-1", Hexadecimal.encode(Insecure.SHA1.hash(data: bytes))),
            ("MD5", Hexadecimal.encode(Insecure.MD5.hash(data: bytes))),
        ]
        return [
            mistake(
                .userNameLowerCase, .common, .user, signed: name.lowercased(),
                "applicationUsername was signed in lower case, as if it were an appAccountToken; Apple verifies with the text that the app gives, case and all."
            ),
            mistake(
                .fieldCase, .rare, .user, signed: name.uppercased(), "applicationUsername was signed in upper case."),
            emptyUser(),
        ]
            + hashes.map { hash, digits in
                mistake(
                    .userNameHashed, .rare, .user, signed: digits,
                    "The \(hash) of applicationUsername was signed, not applicationUsername itself.")
            }
    }

    private func emptyUser() -> KnownMistake {
        mistake(
            .fieldEmpty, .common, .user, signed: "",
            "The user's field was empty when it was signed, but \(name(.user)) was given.")
    }
}
