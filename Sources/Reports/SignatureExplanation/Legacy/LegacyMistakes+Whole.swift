import Encodings

extension LegacyMistakes {
    // MARK: The whole text

    func whole() -> [KnownMistake] {
        [
            finish(.textNewline, .common, "A line feed was signed after the text.") { $0 + [0x0A] },
            finish(.textNewline, .rare, "A line break (CR LF) was signed after the text.") { $0 + [0x0D, 0x0A] },
            finish(.textZeroByte, .plausible, "A zero byte was signed after the text.") { $0 + [0] },
            finish(.textByteOrderMark, .rare, "A byte order mark was signed in front of the text.") {
                [0xEF, 0xBB, 0xBF] + $0
            },
            finish(.textUTF8Twice, .plausible, "The text was encoded as UTF-8 twice: its bytes were taken for Latin-1.")
            {
                TextEncoding.utf8(ofLatin1: $0)
            },
            finish(
                .textLatin1, .plausible,
                "The text was signed in Latin-1, which has no U+2063: a \"?\" was signed for it."
            ) {
                TextEncoding.latin1($0)
            },
            finish(.textCase, .plausible, "The whole text was signed in lower case.") {
                TextEncoding.map($0) { $0.lowercased() }
            },
            finish(.textCase, .rare, "The whole text was signed in upper case.") {
                TextEncoding.map($0) { $0.uppercased() }
            },
            finish(.textBase64, .plausible, "The text was signed in Base64.") { Base64.standard.encode($0) },
            finish(.textBase64, .rare, "The text was signed in Base64url.") { Base64.url.encode($0) },
            finish(.textHexadecimal, .rare, "The text was signed in hexadecimal.") {
                Array(Hexadecimal.encode($0).utf8)
            },
            finish(.textQuoted, .plausible, "The text was signed in quotation marks, as a JSON string.") {
                [UInt8(ascii: "\"")] + $0 + [UInt8(ascii: "\"")]
            },
        ] + utf16() + urlEncodings()
    }

    private func utf16() -> [KnownMistake] {
        [("little", false, [0xFF, 0xFE] as [UInt8]), ("big", true, [0xFE, 0xFF])].flatMap { end, isBig, mark in
            [
                finish(.textUTF16, .plausible, "The text was signed in UTF-16 (\(end)-endian).") {
                    TextEncoding.utf16($0, bigEndian: isBig)
                },
                finish(
                    .textUTF16, .plausible, "The text was signed in UTF-16 (\(end)-endian, with a byte order mark)."
                ) { mark + TextEncoding.utf16($0, bigEndian: isBig) },
            ]
        }
    }

    private func urlEncodings() -> [KnownMistake] {
        var known: Set<[UInt8]> = []
        return PercentEncoding.Form.all.compactMap { form in
            let encode = { @Sendable (bytes: [UInt8]) in TextEncoding.map(bytes) { PercentEncoding.encode($0, form) } }
            guard known.insert(encode(text.bytes)).inserted else { return nil }
            return finish(.textURLEncoded, .plausible, "The whole text was signed in URL encoding.", encode)
        }
    }

    private func finish(
        _ code: FindingCode, _ rank: KnownMistake.Rank, _ message: String,
        _ finish: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> KnownMistake {
        KnownMistake(Finding(code, message), rank, .whole) { $0.finish = finish }
    }

    // MARK: Digests

    func digests() -> [KnownMistake] {
        DigestForm.allCases.compactMap { form in
            guard let finding = form.finding else { return nil }
            return KnownMistake(finding, form == .twice || form == .hexadecimal ? .common : .plausible, .digest) {
                $0.digest = form
            }
        }
    }
}
