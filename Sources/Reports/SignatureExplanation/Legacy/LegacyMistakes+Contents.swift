import Algorithms
import Encodings
// For normalisation: the standard library's own functions are not public.
import Foundation

/// Fields that contain another text than the answer.
extension LegacyMistakes {
    // MARK: Words instead of a value

    func words() -> [KnownMistake] {
        severalUndefined()
            + LegacyField.allCases.flatMap { field in
                let isUser = field == .user
                let words: [(FindingCode, KnownMistake.Rank, String)] =
                    [
                        (.fieldUndefined, isUser ? .common : .plausible, "undefined"),
                        (.fieldNull, isUser ? .common : .plausible, "null"),
                        (.fieldNull, isUser ? .plausible : .rare, "None"),
                        (.fieldNull, isUser ? .plausible : .rare, "nil"),
                    ]
                    + ["NULL", "(null)", "<null>", "NaN", "[object Object]", "<nil>", "false"].map {
                        (.fieldNull, .rare, $0)
                    }
                let optional = "as Optional(\"…\"): Swift's description of an optional"
                let empty = mistake(
                    .fieldEmpty, .plausible, field, signed: "", "\(name(field)) was empty when it was signed.")
                return words.map { code, rank, word in
                    let message = "The text \"\(word)\" was signed where \(name(field)) belongs."
                    return mistake(code, rank, field, signed: word, message)
                }
                    + signed(
                        field, [(.fieldOptional, isUser ? .plausible : .rare, "Optional(\"\(text[field])\")", optional)]
                    )
                    + (isUser ? [] : [empty])
            }
    }

    /// A server that reads its parameters from the wrong source finds none of them.
    private func severalUndefined() -> [KnownMistake] {
        let groups: [[LegacyField]] = [
            [.productID, .offerID, .user], [.productID, .offerID], [.bundleID, .productID, .offerID, .user],
            [.bundleID, .keyID, .productID, .offerID, .user],
        ]
        return groups.map { fields in
            let names = fields.map(name).joined(separator: ", ")
            let message = "The text \"undefined\" was signed for each of \(names)."
            return KnownMistake(.fieldUndefined, .common, Set(fields.map { .field($0) }), message) { text in
                for field in fields { text[field] = "undefined" }
            }
        }
    }

    // MARK: Changed values

    func otherKeyID(_ keyID: String) -> KnownMistake {
        mistake(
            .keyIDInText, .common, .keyID, signed: keyID,
            "The key ID \(keyID) was signed, but the answer says \(answer.keyID).")
    }

    func contents(_ field: LegacyField) -> [KnownMistake] {
        let value = text[field]
        let lowerRank: KnownMistake.Rank = field == .bundleID ? .plausible : .rare
        let lineRank: KnownMistake.Rank = [.bundleID, .keyID, .user].contains(field) ? .plausible : .rare
        var ways: [Signed] = [
            (.fieldWhiteSpace, lineRank, value + "\n", "with white space: a line feed after it"),
            (.fieldWhiteSpace, .rare, value + "\r\n", "with white space: a line break after it"),
            (.fieldWhiteSpace, .rare, value + "\r", "with white space: a carriage return after it"),
            (.fieldWhiteSpace, .rare, value + " ", "with white space: a space after it"),
            (.fieldWhiteSpace, .rare, " " + value, "with white space: a space in front of it"),
            (.fieldWhiteSpace, .rare, Self.trimmed(value), "without the white space that it has"),
            (.fieldQuoted, .rare, "\"\(value)\"", "in quotation marks"),
            (.fieldQuoted, .rare, "'\(value)'", "in quotation marks"),
            // Unicode Standard Annex #15.
            (.fieldNormalised, .plausible, value.precomposedStringWithCanonicalMapping, Self.normalised("NFC")),
            (.fieldNormalised, .plausible, value.decomposedStringWithCanonicalMapping, Self.normalised("NFD")),
            (.fieldNormalised, .plausible, value.precomposedStringWithCompatibilityMapping, Self.normalised("NFKC")),
        ]
        if ![.user, .nonce, .timestamp].contains(field) {
            ways += [
                (.fieldCase, lowerRank, value.lowercased(), "in lower case"),
                (.fieldCase, .rare, value.uppercased(), "in upper case"),
            ]
        }
        return signed(field, ways) + signed(field, urlEncodings(of: value)) + escapes(field) + urlDecodings(field)
    }

    private static func trimmed(_ value: String) -> String {
        String(String(value.drop(while: \.isWhitespace).reversed()).drop(while: \.isWhitespace).reversed())
    }

    private static func normalised(_ form: String) -> String { "in Unicode's form \(form), which has other bytes" }

    // MARK: Encodings

    /// Each form of URL encoding, applied once and twice.
    private func urlEncodings(of value: String) -> [Signed] {
        let once = PercentEncoding.Form.all.map { PercentEncoding.encode(value, $0) }
        let twice = zip(once, PercentEncoding.Form.all).map { PercentEncoding.encode($0, $1) }
        let ways: [Signed] =
            once.map { (.fieldURLEncoded, .plausible, $0, "in URL encoding") }
            + twice.map { (.fieldURLEncoded, .plausible, $0, "in URL encoding, encoded twice") }
        return Array(ways.uniqued { $0.text })
    }

    private func urlDecodings(_ field: LegacyField) -> [KnownMistake] {
        func decoded(_ text: String) -> String? {
            PercentEncoding.decodeBytes(Array(text.utf8)).flatMap { String(validating: $0, as: UTF8.self) }
        }
        let withSpaces = String(text[field].map { $0 == "+" ? " " : $0 })
        let once = [text[field], withSpaces].compactMap(decoded)
        return ([withSpaces] + once).map { text in
            let message = "\(name(field)) was URL-decoded once more before it was signed."
            return mistake(.fieldURLDecoded, .plausible, field, signed: text, message)
        }
            + once.compactMap(decoded).map { text in
                let message = "\(name(field)) was URL-decoded twice more before it was signed."
                return mistake(.fieldURLDecoded, .plausible, field, signed: text, message)
            }
    }

    private func escapes(_ field: LegacyField) -> [KnownMistake] {
        let escaped = "with the escapes of JSON (\\/ or \\u…)"
        let mistakes = signed(field, [(.fieldJSONEscaped, .plausible, Self.jsonEscaped(text[field]), escaped)])
        guard let plain = JSONEscapes.decode(Array(text[field].utf8), beyondASCII: true) else { return mistakes }
        let message = "\(name(field)) is given \(escaped), and was signed without."
        let signed = String(decoding: plain, as: UTF8.self)
        return mistakes + [mistake(.fieldJSONEscaped, .common, field, signed: signed, message)]
    }

    /// Uses the escapes that JSON allows but does not require.
    private static func jsonEscaped(_ value: String) -> String {
        value.utf16.map { unit in
            switch unit {
            case 0x2F: "\\/"
            case 0x80...: "\\u" + Hexadecimal.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)])
            default: String(decoding: [unit], as: UTF16.self)
            }
        }.joined()
    }
}
