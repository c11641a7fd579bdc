import Encodings
// For normalisation: the standard library's own functions are not public.
import Foundation

extension LegacyMistakes {
    // MARK: Words instead of a value

    func words() -> [KnownMistake] {
        var mistakes = severalUndefined()
        for field in LegacyField.allCases {
            let isUser = field == .user
            mistakes.append(word("undefined", .fieldUndefined, isUser ? .common : .plausible, field))
            mistakes.append(word("null", .fieldNull, isUser ? .common : .plausible, field))
            for text in ["None", "nil", "NULL", "(null)", "<null>", "NaN", "[object Object]", "<nil>", "false"] {
                mistakes.append(
                    word(text, .fieldNull, isUser && (text == "None" || text == "nil") ? .plausible : .rare, field))
            }
            mistakes.append(
                mistake(
                    .fieldOptional, isUser ? .plausible : .rare, field, signed: "Optional(\"\(text[field])\")",
                    "\(name(field)) was signed as Optional(\"…\"): Swift's description of an optional."))
            if field != .user {
                mistakes.append(
                    mistake(.fieldEmpty, .plausible, field, signed: "", "\(name(field)) was empty when it was signed."))
            }
        }
        return mistakes
    }

    private func word(_ text: String, _ code: FindingCode, _ rank: KnownMistake.Rank, _ field: LegacyField)
        -> KnownMistake
    {
        mistake(code, rank, field, signed: text, "The text \"\(text)\" was signed where \(name(field)) belongs.")
    }

    /// A server that reads its parameters from the wrong source finds none of them.
    private func severalUndefined() -> [KnownMistake] {
        let groups: [[LegacyField]] = [
            [.productID, .offerID, .user], [.productID, .offerID], [.bundleID, .productID, .offerID, .user],
            [.bundleID, .keyID, .productID, .offerID, .user],
        ]
        return groups.map { fields in
            let names = fields.map(name).joined(separator: ", ")
            return KnownMistake(
                Finding(.fieldUndefined, "The text \"undefined\" was signed for each of \(names)."), .common,
                fields.reduce(into: AffectedParts()) { $0.formUnion($1.affectedPart) }
            ) { text in
                for field in fields { text[field] = "undefined" }
            }
        }
    }

    // MARK: Changed values

    func contents() -> [KnownMistake] {
        otherKeyIDs()
            + LegacyField.allCases.flatMap { field in
                white(field) + encodings(field)
                    + ([.user, .nonce, .timestamp].contains(field) ? [] : cases(field))
            }
    }

    private func otherKeyIDs() -> [KnownMistake] {
        keyIDs.filter { $0 != answer.keyID }.map {
            mistake(
                .keyIDInText, .common, .keyID, signed: $0,
                "The key ID \($0) was signed, but the answer says \(answer.keyID).")
        }
    }

    private func cases(_ field: LegacyField) -> [KnownMistake] {
        let value = text[field]
        return [
            mistake(
                .fieldCase, field == .bundleID ? .plausible : .rare, field, signed: value.lowercased(),
                "\(name(field)) was signed in lower case."),
            mistake(.fieldCase, .rare, field, signed: value.uppercased(), "\(name(field)) was signed in upper case."),
        ]
    }

    private func white(_ field: LegacyField) -> [KnownMistake] {
        let value = text[field]
        let isFromFile = field == .bundleID || field == .keyID || field == .user
        let forms: [(signed: String, rank: KnownMistake.Rank, place: String)] = [
            (value + "\n", isFromFile ? .plausible : .rare, "a line feed after it"),
            (value + "\r\n", .rare, "a line break after it"),
            (value + "\r", .rare, "a carriage return after it"),
            (value + " ", .rare, "a space after it"),
            (" " + value, .rare, "a space in front of it"),
        ]
        let spaces = forms.map { form in
            mistake(
                .fieldWhiteSpace, form.rank, field, signed: form.signed,
                "\(name(field)) was signed with white space: \(form.place).")
        }
        let quotes = ["\"", "'"].map { mark in
            mistake(
                .fieldQuoted, .rare, field, signed: mark + value + mark,
                "\(name(field)) was signed in quotation marks.")
        }
        let trimmed = mistake(
            .fieldWhiteSpace, .rare, field, signed: trimmed(value),
            "\(name(field)) was signed without the white space that it has.")
        return spaces + [trimmed] + quotes
    }

    private func encodings(_ field: LegacyField) -> [KnownMistake] {
        let value = text[field]
        let decoded = "\(name(field)) was URL-decoded once more before it was signed."
        let plus = value.map { $0 == "+" ? " " : $0 }
        var mistakes =
            urlEncodings(field) + [
                mistake(.fieldURLDecoded, .plausible, field, signed: String(plus), decoded),
                mistake(
                    .fieldJSONEscaped, .plausible, field, signed: Self.jsonEscaped(value),
                    "\(name(field)) was signed with the escapes of JSON (\\/ or \\u…)."),
            ]
        if let plain = JSONEscapes.decode(Array(value.utf8), beyondASCII: true) {
            mistakes.append(
                mistake(
                    .fieldJSONEscaped, .common, field, signed: String(decoding: plain, as: UTF8.self),
                    "\(name(field)) is given with the escapes of JSON (\\/ or \\u…), and was signed without."))
        }
        for text in [value, String(plus)] {
            if let bytes = PercentEncoding.decodeBytes(Array(text.utf8)),
                let plain = String(validating: bytes, as: UTF8.self)
            {
                mistakes.append(mistake(.fieldURLDecoded, .plausible, field, signed: plain, decoded))
                if let bytes = PercentEncoding.decodeBytes(bytes), let plain = String(validating: bytes, as: UTF8.self)
                {
                    mistakes.append(
                        mistake(
                            .fieldURLDecoded, .plausible, field, signed: plain,
                            "\(name(field)) was URL-decoded twice more before it was signed."))
                }
            }
        }
        return mistakes
            + normalisations(of: value).map { form, signed in
                mistake(
                    .fieldNormalised, .plausible, field, signed: signed,
                    "\(name(field)) was signed in Unicode's form \(form), which has other bytes.")
            }
    }

    /// Unicode Standard Annex #15.
    private func normalisations(of value: String) -> [(form: String, text: String)] {
        [
            ("NFC", value.precomposedStringWithCanonicalMapping), ("NFD", value.decomposedStringWithCanonicalMapping),
            ("NFKC", value.precomposedStringWithCompatibilityMapping),
        ]
    }

    /// Each form of URL encoding, applied once and twice.
    private func urlEncodings(_ field: LegacyField) -> [KnownMistake] {
        var known: Set<[UInt8]> = []
        return [false, true].flatMap { isTwice in
            PercentEncoding.Form.all.compactMap { form in
                let once = PercentEncoding.encode(text[field], form)
                let signed = isTwice ? PercentEncoding.encode(once, form) : once
                guard known.insert(Array(signed.utf8)).inserted else { return nil }
                return mistake(
                    .fieldURLEncoded, .plausible, field, signed: signed,
                    "\(name(field)) was signed in URL encoding\(isTwice ? ", encoded twice" : "").")
            }
        }
    }

    private func trimmed(_ value: String) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(String(value.drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
    }

    /// Uses the escapes that JSON allows but does not require.
    private static func jsonEscaped(_ value: String) -> String {
        var escaped = ""
        for unit in value.utf16 {
            if unit == 0x2F {
                escaped += "\\/"
            } else if unit >= 0x80 {
                escaped += "\\u" + Hexadecimal.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)])
            } else {
                escaped.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            }
        }
        return escaped
    }
}
