import Algorithms
import Encodings

/// Mistakes in the whole text: the order of the fields, the separators, the encoding and the digest.
extension LegacyMistakes {
    // MARK: Order

    func order() -> [KnownMistake] {
        let fields = LegacyField.allCases
        return fields.flatMap { first in
            let swaps = fields.dropFirst(first.rawValue + 1).map { swap(first, $0) }
            let (code, rank): (FindingCode, KnownMistake.Rank) =
                first == .user ? (.userSeparatorMissing, .common) : (.fieldMissing, .plausible)
            let message = "\(name(first)) was left out together with its separator."
            let rest = fields.filter { $0 != first }
            return swaps + [KnownMistake(code, rank, [.order], in: name(first), message) { $0.order = rest }]
        }
    }

    private func swap(_ first: LegacyField, _ second: LegacyField) -> KnownMistake {
        let (code, rank): (FindingCode, KnownMistake.Rank) =
            switch (first, second) {
            case (.productID, .offerID): (.productOfferSwapped, .common)
            case (.nonce, .timestamp), (.bundleID, .keyID): (.fieldOrder, .common)
            default: (.fieldOrder, .plausible)
            }
        let message = "\(name(first)) and \(name(second)) were swapped when they were signed."
        return KnownMistake(code, rank, [.order], message) { $0.order.swapAt(first.rawValue, second.rawValue) }
    }

    func reordered(_ order: [LegacyField]) -> KnownMistake {
        let names = order.map(name).joined(separator: ", ")
        let message = "The fields were signed in another order: \(names)."
        return KnownMistake(.fieldOrder, .rare, [.order], message) { $0.order = order }
    }

    // MARK: Separators

    func separators() -> [KnownMistake] {
        let trailing = "A separator was also signed after the last field."
        let leading = "A separator was also signed before the first field."
        let around = [
            KnownMistake(.separatorTrailing, .plausible, [.separator], trailing) { $0.hasTrailingSeparator = true },
            KnownMistake(.separatorLeading, .plausible, [.separator], leading) { $0.hasLeadingSeparator = true },
        ]
        let missing = LegacyField.allCases.dropLast().map { field in
            let message = "The separator after \(name(field)) is missing."
            return KnownMistake(.separatorOneMissing, .plausible, [.separator], in: name(field), message) {
                $0.missingSeparatorIndex = field.rawValue
            }
        }
        return [separator(.separatorMissing, .common, [], "without any separator")] + around + missing
            + Self.literals.map { text in
                separator(
                    .separatorLiteral, text == Self.literals[0] ? .common : .plausible, Array(text.utf8),
                    "with the characters \(text), not with the one character U+2063")
            }
            + Self.characters.enumerated().map { index, text in
                separator(
                    .separatorOther, index < 4 ? .common : .plausible, Array(text.utf8),
                    "with \(VisibleText.names(in: text)), not with U+2063")
            }
            // Other bytes than the separator's UTF-8: its UTF-16 code unit, or the end of its UTF-8.
            + [[0x20, 0x63], [0x63, 0x20], [0x81, 0xA3], [0xA3]].map { bytes in
                separator(
                    .separatorOther, .plausible, bytes,
                    "with the bytes \(Hexadecimal.encode(bytes)), not with U+2063 in UTF-8 (e281a3)")
            }
    }

    private func separator(
        _ code: FindingCode, _ rank: KnownMistake.Rank, _ bytes: [UInt8], _ how: String
    ) -> KnownMistake {
        KnownMistake(code, rank, [.separator], "The fields were joined \(how).") { $0.separator = bytes }
    }

    private static let literals = [
        #"\u2063"#, #"\\u2063"#, "u2063", "2063", "U+2063", #"\u{2063}"#, #"\x{2063}"#, #"\U00002063"#, "0x2063",
        "%E2%81%A3", "%e2%81%a3", "%u2063", #"\xE2\x81\xA3"#, #"\xe2\x81\xa3"#, "&#8291;", "&#x2063;",
        "&InvisibleComma;", "&ic;", "'\u{2063}'", #"'\u2063'"#,
    ]

    /// The first four are common.
    private static let characters = [
        ",", "|", "\n", " ", ":", ";", ".", "-", "_", "&", "/", "+", "#", "\t", "\r\n", ", ", "\0", "\u{2062}",
        "\u{2064}", "\u{2061}", "\u{2060}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{FEFF}", "\u{A0}", "\u{AD}",
        "\u{2028}", "\u{2003}", "\u{206A}", "\u{2603}", "\u{2036}", "\u{FFFD}", "\u{1F}", "\u{1E}", "\u{1D}",
        "\u{80F}", "\u{2063}\u{2063}", " \u{2063} ", "\u{2063} ", " \u{2063}", "\u{2063}\n", "??", "???",
    ]

    // MARK: The whole text

    func whole() -> [KnownMistake] {
        [
            whole(.textNewline, .common, "A line feed was signed after the text.") { $0 + [0x0A] },
            whole(.textNewline, .rare, "A line break (CR LF) was signed after the text.") { $0 + [0x0D, 0x0A] },
            whole(.textZeroByte, .plausible, "A zero byte was signed after the text.") { $0 + [0] },
            whole(.textByteOrderMark, .rare, "A byte order mark was signed in front of the text.") {
                [0xEF, 0xBB, 0xBF] + $0
            },
            // Takes each byte for a Latin-1 character, and encodes it in UTF-8.
            whole(
                .textUTF8Twice, .plausible, "The text was encoded as UTF-8 twice: its bytes were taken for Latin-1."
            ) { $0.flatMap { Array(Unicode.Scalar($0).utf8) } },
            whole(
                .textLatin1, .plausible,
                "The text was signed in Latin-1, which has no U+2063: a \"?\" was signed for it."
            ) {
                String(decoding: $0, as: UTF8.self).unicodeScalars.map {
                    UInt8(exactly: $0.value) ?? UInt8(ascii: "?")
                }
            },
            whole(.textCase, .plausible, "The whole text was signed in lower case.") {
                TextEncoding.map($0) { $0.lowercased() }
            },
            whole(.textCase, .rare, "The whole text was signed in upper case.") {
                TextEncoding.map($0) { $0.uppercased() }
            },
            whole(.textBase64, .plausible, "The text was signed in Base64.") { Base64.standard.encode($0) },
            whole(.textBase64, .rare, "The text was signed in Base64url.") { Base64.url.encode($0) },
            whole(.textHex, .rare, "The text was signed in hexadecimal.") {
                Array(Hexadecimal.encode($0).utf8)
            },
            whole(.textQuoted, .plausible, "The text was signed in quotation marks, as a JSON string.") {
                [UInt8(ascii: "\"")] + $0 + [UInt8(ascii: "\"")]
            },
        ] + utf16() + urlEncodings()
    }

    private func whole(
        _ code: FindingCode, _ rank: KnownMistake.Rank, _ message: String,
        _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> KnownMistake {
        KnownMistake(code, rank, [.whole], message) { $0.finish = change }
    }

    private func utf16() -> [KnownMistake] {
        [("little", false, [0xFF, 0xFE] as [UInt8]), ("big", true, [0xFE, 0xFF])].flatMap { end, isBig, mark in
            [([], ""), (mark, ", with a byte order mark")].map { prefix, remark in
                whole(.textUTF16, .plausible, "The text was signed in UTF-16 (\(end)-endian\(remark)).") {
                    prefix + TextEncoding.utf16($0, bigEndian: isBig)
                }
            }
        }
    }

    private func urlEncodings() -> [KnownMistake] {
        let encodings = PercentEncoding.Form.all.map { form in
            { @Sendable (bytes: [UInt8]) in TextEncoding.map(bytes) { PercentEncoding.encode($0, form) } }
        }
        return encodings.uniqued { $0(text.bytes) }.map {
            whole(.textURLEncoded, .plausible, "The whole text was signed in URL encoding.", $0)
        }
    }

    func digests() -> [KnownMistake] {
        DigestForm.wrong.enumerated().compactMap { index, form in
            form.finding.map {
                KnownMistake($0.code, index < 2 ? .common : .plausible, [.digest], $0.message) { $0.digestForm = form }
            }
        }
    }
}
