import Crypto

extension LegacySlips {
    // MARK: Nonce

    func nonce() -> [Slip] {
        var slips = [
            slip(
                .nonceUpperCase, .common, .nonce, signed: text[.nonce].uppercased(),
                "The nonce was signed in upper case; Apple verifies with its lower-case text.")
        ]
        if answer.nonce != text[.nonce] {
            slips.append(
                slip(
                    .nonceUpperCase, .common, .nonce, signed: answer.nonce,
                    "The nonce was signed with the upper-case letters that it is answered with; Apple verifies with its lower-case text."
                ))
        }
        return slips + uuidForms(.nonce)
    }

    /// The other ways of writing a UUID.
    private func uuidForms(_ field: LegacyField) -> [Slip] {
        let lower = text[field]
        guard UUIDText.isUUID(lower) else { return [] }
        let bare = lower.filter { $0 != "-" }
        return [
            slip(
                .uuidWithoutDashes, .plausible, field, signed: bare,
                "\(name(field)) was signed without the dashes of the UUID."),
            slip(
                .uuidWithoutDashes, .rare, field, signed: bare.uppercased(),
                "\(name(field)) was signed in upper case and without the dashes of the UUID."),
            slip(.uuidInBraces, .rare, field, signed: "{\(lower)}", "\(name(field)) was signed in braces."),
        ]
    }

    // MARK: User

    func user() -> [Slip] {
        var slips: [Slip] = []
        if let other = answer.otherUser {
            let message = "The user's other name was signed, not \(name(.user))."
            slips.append(slip(.userOtherField, .common, .user, signed: other, message))
            slips.append(slip(.userOtherField, .common, .user, signed: ASCIICase.lower(other), message))
        }
        switch answer.user {
        case .nobody:
            slips.append(
                slip(
                    .fieldNull, .plausible, .user, signed: "00000000-0000-0000-0000-000000000000",
                    "A UUID of zeros was signed where the user's field is empty."))
        case .appAccountToken(let token): slips += accountToken(token)
        case .applicationUsername(let name): slips += username(name)
        }
        return slips
    }

    private func accountToken(_ token: String) -> [Slip] {
        let message = "appAccountToken was signed with upper-case letters; Apple verifies with its lower-case text."
        return [
            slip(.accountTokenUpperCase, .common, .user, signed: token, message),
            slip(.accountTokenUpperCase, .common, .user, signed: token.uppercased(), message),
            emptyUser(),
        ] + uuidForms(.user)
    }

    private func username(_ name: String) -> [Slip] {
        let bytes = Array(name.utf8)
        let hashes = [
            ("SHA-256", Hexadecimal.encode(SHA256.hash(data: bytes))),
            ("SHA-1", Hexadecimal.encode(Insecure.SHA1.hash(data: bytes))),
            ("MD5", Hexadecimal.encode(Insecure.MD5.hash(data: bytes))),
        ]
        return [
            slip(
                .userNameLowerCase, .common, .user, signed: name.lowercased(),
                "applicationUsername was signed in lower case, as if it were an appAccountToken; Apple verifies with the text that the app gives, case and all."
            ),
            slip(.fieldCase, .rare, .user, signed: name.uppercased(), "applicationUsername was signed in upper case."),
            emptyUser(),
        ]
            + hashes.map { hash, digits in
                slip(
                    .userNameHashed, .rare, .user, signed: digits,
                    "The \(hash) of applicationUsername was signed, not applicationUsername itself.")
            }
    }

    private func emptyUser() -> Slip {
        slip(
            .fieldEmpty, .common, .user, signed: "",
            "The user's field was empty when it was signed, but \(name(.user)) was given.")
    }
}
