import Encodings

extension LegacyMistakes {
    // MARK: Order

    func order() -> [KnownMistake] {
        let fields = LegacyField.allCases
        var mistakes: [KnownMistake] = []
        for (index, first) in fields.enumerated() {
            for second in fields[(index + 1)...] { mistakes.append(swap(first, second)) }
            mistakes.append(leftOut(first))
        }
        return mistakes
    }

    private func swap(_ first: LegacyField, _ second: LegacyField) -> KnownMistake {
        let isOffer = first == .productID && second == .offerID
        let isCommon = isOffer || first == .nonce && second == .timestamp || first == .bundleID && second == .keyID
        var order = LegacyField.allCases
        order.swapAt(first.rawValue, second.rawValue)
        let changed = order
        let code: FindingCode = isOffer ? .productOfferSwapped : .fieldOrder
        return KnownMistake(
            Finding(code, "\(name(first)) and \(name(second)) were swapped when they were signed."),
            isCommon ? .common : .plausible, .order
        ) { $0.order = changed }
    }

    private func leftOut(_ field: LegacyField) -> KnownMistake {
        let code: FindingCode = field == .user ? .userSeparatorMissing : .fieldMissing
        let rest = LegacyField.allCases.filter { $0 != field }
        return KnownMistake(
            Finding(code, field: name(field), "\(name(field)) was left out together with its separator."),
            field == .user ? .common : .plausible, .order
        ) { $0.order = rest }
    }

    func reordered(_ order: [LegacyField]) -> KnownMistake {
        KnownMistake(
            Finding(
                .fieldOrder, "The fields were signed in another order: \(order.map(name).joined(separator: ", "))."),
            .rare, .order
        ) { $0.order = order }
    }

    // MARK: Separators

    func separators() -> [KnownMistake] {
        var mistakes = [
            separator(.separatorMissing, .common, "", "The fields were joined without any separator."),
            KnownMistake(
                Finding(.separatorTrailing, "A separator was also signed after the last field."), .plausible,
                .separator
            ) { $0.hasTrailingSeparator = true },
            KnownMistake(
                Finding(.separatorLeading, "A separator was also signed before the first field."), .plausible,
                .separator
            ) { $0.hasLeadingSeparator = true },
        ]
        for (index, field) in LegacyField.allCases.dropLast().enumerated() {
            mistakes.append(
                KnownMistake(
                    Finding(
                        .separatorOneMissing, field: name(field), "The separator after \(name(field)) is missing."),
                    .plausible, .separator
                ) { $0.missingSeparatorIndex = index })
        }
        return mistakes + literals() + characters() + rawCodeUnits()
    }

    private func separator(_ code: FindingCode, _ rank: KnownMistake.Rank, _ text: String, _ message: String)
        -> KnownMistake
    {
        KnownMistake(Finding(code, message), rank, .separator) { $0.separator = Array(text.utf8) }
    }

    private func literals() -> [KnownMistake] {
        let texts = [
            #"\u2063"#, #"\\u2063"#, "u2063", "2063", "U+2063", #"\u{2063}"#, #"\x{2063}"#, #"\U00002063"#, "0x2063",
            "%E2%81%A3", "%e2%81%a3", "%u2063", #"\xE2\x81\xA3"#, #"\xe2\x81\xa3"#, "&#8291;", "&#x2063;",
            "&InvisibleComma;", "&ic;", "'\u{2063}'", #"'\u2063'"#,
        ]
        return texts.enumerated().map { index, text in
            separator(
                .separatorLiteral, index == 0 ? .common : .plausible, text,
                "The fields were joined with the characters \(text), not with the one character U+2063.")
        }
    }

    private func characters() -> [KnownMistake] {
        let common = [",", "|", "\n", " "]
        let others = [
            ":", ";", ".", "-", "_", "&", "/", "+", "#", "\t", "\r\n", ", ", "\0", "\u{2062}", "\u{2064}",
            "\u{2061}", "\u{2060}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{FEFF}", "\u{A0}", "\u{AD}", "\u{2028}",
            "\u{2003}", "\u{206A}", "\u{2603}", "\u{2036}", "\u{FFFD}", "\u{1F}", "\u{1E}", "\u{1D}", "\u{80F}",
            "\u{2063}\u{2063}", " \u{2063} ", "\u{2063} ", " \u{2063}", "\u{2063}\n", "??", "???",
        ]
        return common.map { character($0, .common) } + others.map { character($0, .plausible) }
    }

    private func character(_ text: String, _ rank: KnownMistake.Rank) -> KnownMistake {
        separator(
            .separatorOther, rank, text,
            "The fields were joined with \(ScalarName.list(text)), not with U+2063.")
    }

    /// Other bytes than the separator's UTF-8: its UTF-16 code unit, or the end of its UTF-8.
    private func rawCodeUnits() -> [KnownMistake] {
        [[0x20, 0x63], [0x63, 0x20], [0x81, 0xA3], [0xA3]].map { (bytes: [UInt8]) in
            KnownMistake(
                Finding(
                    .separatorOther,
                    "The fields were joined with the bytes \(Hexadecimal.encode(bytes)), not with U+2063 in UTF-8 (e281a3)."
                ),
                .plausible, .separator
            ) { $0.separator = bytes }
        }
    }
}
