import Crypto
import Encodings
import Foundation
import SignatureExplanation

/// At least one example of each mistake.
enum LegacyMistakes {
    static let all = identifiers + times + fields + joins + texts + digests + signatures

    private static let mail = LegacyFixture(user: .applicationUsername("zoë@example.com"))
    private static let named = LegacyFixture(user: .applicationUsername("Zoë+o'Neil /x"))

    private static let identifiers: [LegacyMistake] = [
        .field(.nonceUpperCase, 5) { $0.uppercased() },
        .field(
            .nonceUpperCase, 5, "answered like that", in: LegacyFixture(nonce: "20FBA8A0-2b80-4a7d-a17f-85c1854727f8")
        ) { _ in
            "20FBA8A0-2b80-4a7d-a17f-85c1854727f8"
        },
        .field(.uuidWithoutDashes, 5) { $0.filter { $0 != "-" } },
        .field(.uuidWithoutDashes, 4, "token") { $0.filter { $0 != "-" } },
        .field(.uuidInBraces, 5) { "{\($0)}" },
        .field(.accountTokenUpperCase, 4) { $0.uppercased() },
        .field(.userNameLowerCase, 4, in: named) { $0.lowercased() },
        .field(.userNameHashed, 4, in: named) { LegacyFixture.hex(SHA256.hash(data: Data($0.utf8))) },
        .field(.userOtherField, 4, in: LegacyFixture(otherUser: "Alice")) { _ in "Alice" },
        .field(.keyIDInText, 1) { _ in LegacyFixture.otherKeyID },
    ]

    private static let times: [LegacyMistake] = [
        .field(.timestampSeconds, 6) { String($0.dropLast(3)) },
        .field(.timestampSeconds, 6, "with a fraction") { "\($0.dropLast(3)).\($0.suffix(3))" },
        .field(.timestampSeconds, 6, "answered like that", in: LegacyFixture(timestamp: "1698148900")) { $0 },
        .field(.timestampAnswerSeconds, 6, in: LegacyFixture(timestamp: "1698148900")) { "\($0)417" },
        .field(.timestampAnswerSeconds, 6, "a whole second", in: LegacyFixture(timestamp: "1698148900")) { "\($0)000" },
        .field(.timestampRounded, 6) { "\($0.dropLast(3))000" },
        .field(.timestampOtherMoment, 6, "2 ms later") { _ in "1698148900125" },
        .field(.timestampOtherMoment, 6, "within the second") { _ in "1698148900777" },
        .field(.timestampFraction, 6) { "\($0).0" },
        .field(.timestampFraction, 6, "with an exponent") { _ in "1.698148900123E12" },
        .field(.timestampFraction, 6, "answered like that", in: LegacyFixture(timestamp: "1698148900123.0")) { $0 },
        .field(.timestampGrouped, 6) { _ in "1,698,148,900,123" },
        .field(.timestampFiner, 6) { "\($0)000" },
        .field(.timestampDate, 6) { _ in "2023-10-24T12:01:40.123Z" },
        .field(.timestampReferenceDate, 6) { _ in "719841700" },
        .field(.timestampTimeZone, 6) { _ in String(1_698_148_900_123 + 7_200_000) },
        .field(.timestampTimeZone, 6, "India") { _ in String(1_698_148_900_123 + 19_800_000) },
        .field(.timestampTimeZone, 6, "Newfoundland") { _ in String(1_698_148_900_123 - 12_600_000) },
        .field(.timestampTimeZone, 6, "Nepal") { _ in String(1_698_148_900_123 + 20_700_000) },
        .field(.timestampFiner, 6, "real microseconds") { "\($0)457" },
        .field(.timestampFiner, 6, "answered in microseconds", in: LegacyFixture(timestamp: "1698148900123457")) {
            String($0.dropLast(3))
        },
        .field(.timestampFiner, 6, "answered in nanoseconds", in: LegacyFixture(timestamp: "1698148900123457891")) {
            String($0.dropLast(6))
        },
    ]

    private static let fields: [LegacyMistake] = [
        .field(.fieldUndefined, 4) { _ in "undefined" },
        .field(.fieldUndefined, 2) { _ in "undefined" },
        LegacyMistake(.fieldUndefined, "all parameters") {
            let fixture = LegacyFixture()
            return try fixture.answer(
                signing: fixture.fields(Dictionary(uniqueKeysWithValues: (0...4).map { ($0, "undefined") })))
        },
        .field(.fieldNull, 4) { _ in "null" },
        .field(.fieldNull, 3, "None") { _ in "None" },
        .field(.fieldNull, 4, "for nobody", in: LegacyFixture(user: .nobody)) { _ in "null" },
        .field(.fieldEmpty, 4) { _ in "" },
        .field(.fieldEmpty, 3) { _ in "" },
        .field(.fieldOptional, 4) { "Optional(\"\($0)\")" },
        .field(.fieldCase, 0) { $0.lowercased() },
        .field(.fieldCase, 2) { $0.uppercased() },
        .field(.fieldWhiteSpace, 1) { "\($0)\n" },
        .field(.fieldWhiteSpace, 3) { " \($0)" },
        .field(.fieldQuoted, 2) { "\"\($0)\"" },
        .field(.fieldURLEncoded, 4, in: named) { _ in "Zo%C3%AB%2Bo%27Neil%20%2Fx" },
        .field(.fieldURLEncoded, 4, "encodeURI", in: mail) { _ in "zo%C3%AB@example.com" },
        .field(.fieldURLEncoded, 4, "encodeURIComponent", in: named) { _ in "Zo%C3%AB%2Bo'Neil%20%2Fx" },
        .field(.fieldURLEncoded, 4, "form", in: named) { _ in "Zo%C3%AB%2Bo%27Neil+%2Fx" },
        .field(.fieldURLEncoded, 4, "twice", in: named) { _ in "Zo%25C3%25AB%252Bo%2527Neil%2520%252Fx" },
        .field(.fieldURLEncoded, 4, "encodeURI twice", in: mail) { _ in "zo%25C3%25AB@example.com" },
        .field(.fieldURLDecoded, 4, "twice", in: LegacyFixture(user: .applicationUsername("a%2520b"))) { _ in "a b" },
        .field(.fieldJSONEscaped, 4, "given", in: LegacyFixture(user: .applicationUsername(#"a\/b"#))) { _ in "a/b" },
        .field(
            .fieldJSONEscaped, 4, "given by PHP",
            in: LegacyFixture(user: .applicationUsername(#"caf\u00e9 \ud83d\ude00"#))
        ) { _ in "café 😀" },
        .field(.fieldURLEncoded, 4, ".NET", in: mail) { _ in "zo%c3%ab%40example.com" },
        .field(.fieldURLDecoded, 4, in: named) { _ in "Zoë o'Neil /x" },
        .field(.fieldURLDecoded, 4, "percent", in: LegacyFixture(user: .applicationUsername("a%20b"))) { _ in "a b" },
        .field(.fieldJSONEscaped, 4, in: named) { _ in "Zo\\u00eb+o'Neil \\/x" },
        .field(.fieldNormalised, 4, in: named) { $0.decomposedStringWithCanonicalMapping },
        .field(.fieldNormalised, 4, "composed", in: LegacyFixture(user: .applicationUsername("Zoe\u{308}"))) { _ in
            "Zo\u{EB}"
        },
    ]

    private static let joins: [LegacyMistake] = [
        .separator(.separatorMissing, ""), .separator(.separatorLiteral, "\\u2063"),
        .separator(.separatorLiteral, "u2063"), .separator(.separatorOther, ","), .separator(.separatorOther, "\n"),
        .separator(.separatorOther, "|"), .separator(.separatorOther, "\u{2062}"),
        .separator(.separatorOther, "\u{200B}"),
        LegacyMistake(.separatorOneMissing) {
            let fields = LegacyFixture().fields
            let text = fields[..<3].joined(separator: "\u{2063}") + fields[3...].joined(separator: "\u{2063}")
            return try LegacyFixture().answer(signingBytes: Array(text.utf8))
        },
        .text(.separatorTrailing) { $0 + Array("\u{2063}".utf8) },
        .text(.separatorLeading) { Array("\u{2063}".utf8) + $0 },
        .order(.productOfferSwapped, [0, 1, 3, 2, 4, 5, 6]), .order(.fieldOrder, [0, 1, 2, 3, 4, 6, 5]),
        .order(.fieldOrder, [6, 2, 0, 4, 1, 3, 5]), .order(.fieldMissing, [0, 1, 2, 3, 4, 5]),
        .order(.userSeparatorMissing, [0, 1, 2, 3, 5, 6], LegacyFixture(user: .nobody)),
    ]

    private static let texts: [LegacyMistake] = [
        .text(.textNewline) { $0 + [0x0A] }, .text(.textZeroByte) { $0 + [0] },
        .text(.textByteOrderMark) { [0xEF, 0xBB, 0xBF] + $0 },
        .text(.textUTF16) { Array(String(decoding: $0, as: UTF8.self).data(using: .utf16LittleEndian) ?? Data()) },
        .text(.textUTF16, "big-endian") {
            Array(String(decoding: $0, as: UTF8.self).data(using: .utf16BigEndian) ?? Data())
        },
        .text(.textUTF8Twice) { Array((String(bytes: $0, encoding: .isoLatin1) ?? "").utf8) },
        .text(.textLatin1) { Array(String(decoding: $0, as: UTF8.self).replacing("\u{2063}", with: "?").utf8) },
        .text(.textCase) { Array(String(decoding: $0, as: UTF8.self).uppercased().utf8) },
        .text(.textBase64) { Base64.standard.encode($0) },
        .text(.textHex) { Array(LegacyFixture.hex($0).utf8) },
        .text(.textQuoted) { Array("\"".utf8) + $0 + Array("\"".utf8) },
        LegacyMistake(.textURLEncoded) {
            let allowed = CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
            let text = String(decoding: named.text, as: UTF8.self).addingPercentEncoding(withAllowedCharacters: allowed)
            return try named.answer(signingBytes: Array((text ?? "").utf8))
        },
    ]

    private static let digests: [LegacyMistake] = [
        .text(.digestTwice) { Array(SHA256.hash(data: $0)) },
        .text(.digestHex) { Array(LegacyFixture.hex(SHA256.hash(data: $0)).utf8) },
        .text(.digestBase64) { Base64.standard.encode(Array(SHA256.hash(data: $0))) },
        .digest(.digestSHA384) { SHA384.hash(data: $0) }, .digest(.digestSHA512) { SHA512.hash(data: $0) },
        .digest(.digestSHA1) { Insecure.SHA1.hash(data: $0) },
        .digest(.digestMissing) { SHA256Lookalike(bytes: Array($0.prefix(32))) },
    ]

    private static let signatures: [LegacyMistake] = [
        .writing(.signatureRaw) { LegacyFixture.base64(Array($0.rawRepresentation)) },
        .writing(.signatureHex) { LegacyFixture.hex($0.derRepresentation) },
        .writing(.signatureEncodedTwice) {
            LegacyFixture.base64(Array(LegacyFixture.base64(Array($0.derRepresentation)).utf8))
        },
        .rewriting(.signatureBase64url, holding: ["/"]) { $0.replacing("+", with: "-").replacing("/", with: "_") },
        .rewriting(.signaturePlusLost, holding: ["+"]) { $0.replacing("+", with: " ") },
        .rewriting(.signaturePlusLost, "at the end", holding: [], ending: "+") { $0.replacing("+", with: " ") },
        .rewriting(.signatureURLEncoded, holding: ["/"]) {
            $0.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
        },
        .rewriting(.signatureURLEncoded, "twice", holding: ["/"]) {
            $0.replacing("+", with: "%252B").replacing("/", with: "%252F").replacing("=", with: "%253D")
        },
        .rewriting(.signatureJSONEscaped, "PHP", holding: ["/"]) { $0.replacing("/", with: #"\/"#) },
        .rewriting(.signatureJSONEscaped, "Gson", holding: ["="]) { $0.replacing("=", with: #"\u003d"#) },
        .rewriting(.signatureUnpadded, holding: ["="]) { $0.replacing("=", with: "") },
        .writing(.signatureWhiteSpace) { LegacyFixture.base64(Array($0.derRepresentation)) + "\n" },
        .writing(.signatureDERLax) { LegacyFixture.base64(Array($0.derRepresentation) + [0, 0]) },
        .writing(.signatureHalvesSwapped) {
            let raw = Array($0.rawRepresentation)
            let swapped = try P256.Signing.ECDSASignature(rawRepresentation: raw[32...] + raw[..<32])
            return LegacyFixture.base64(Array(swapped.derRepresentation))
        },
        .writing(.signatureLittleEndian) {
            let raw = Array($0.rawRepresentation)
            let reversed = raw[..<32].reversed() + raw[32...].reversed()
            return LegacyFixture.base64(
                Array(try P256.Signing.ECDSASignature(rawRepresentation: Array(reversed)).derRepresentation))
        },
        LegacyMistake(.keyOther) {
            try LegacyFixture().answer(signing: LegacyFixture().fields, key: LegacyFixture.otherKey)
        },
    ]
}

extension LegacyMistake {
    static func order(
        _ code: FindingCode, _ order: [Int], _ fixture: LegacyFixture = LegacyFixture()
    ) -> LegacyMistake {
        LegacyMistake(code, "\(order)") { try fixture.answer(signing: order.map { fixture.fields[$0] }) }
    }

    /// Rewrites the signature's Base64. Signs again until the Base64 contains the characters in `holding`.
    static func rewriting(
        _ code: FindingCode, _ detail: String = "", holding: [Character], ending: String = "",
        _ rewrite: @escaping @Sendable (String) -> String
    ) -> LegacyMistake {
        LegacyMistake(code, detail) {
            let fixture = LegacyFixture()
            var answer = try fixture.answer(signing: fixture.fields)
            while !holding.allSatisfy(answer.signature.contains) || !answer.signature.hasSuffix(ending) {
                answer = try fixture.answer(signing: fixture.fields)
            }
            answer.signature = rewrite(answer.signature)
            return answer
        }
    }

    static func digest(_ code: FindingCode, _ hash: @escaping @Sendable ([UInt8]) -> some Digest) -> LegacyMistake {
        LegacyMistake(code) {
            let fixture = LegacyFixture()
            let signature = try LegacyFixture.key.signature(for: hash(fixture.text))
            return fixture.answer(signature: LegacyFixture.base64(Array(signature.derRepresentation)))
        }
    }
}

/// Bytes that a key signs as if they were a digest.
struct SHA256Lookalike: Digest {
    static let byteCount = 32
    let bytes: [UInt8]

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    var description: String { "lookalike" }
}
