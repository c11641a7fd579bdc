import Crypto
import Foundation
import SignatureExplanation
import Testing

/// A legacy answer with two mistakes.
struct LegacyPair: CustomTestStringConvertible, Sendable {
    let codes: Set<FindingCode>
    let make: @Sendable () throws -> LegacyAnswer

    init(_ codes: Set<FindingCode>, _ make: @escaping @Sendable () throws -> LegacyAnswer) {
        self.codes = codes
        self.make = make
    }

    var testDescription: String { codes.map(\.rawValue).sorted().joined(separator: " and ") }
}

enum LegacyPairs {
    private static let fixture = LegacyFixture()

    static let all: [LegacyPair] = [
        LegacyPair([.nonceUpperCase, .accountTokenUpperCase]) {
            let changes = [4: fixture.fields[4].uppercased(), 5: fixture.fields[5].uppercased()]
            return try fixture.answer(signing: fixture.fields(changes))
        },
        LegacyPair([.nonceUpperCase, .timestampSeconds]) {
            try fixture.answer(signing: fixture.fields([5: fixture.fields[5].uppercased(), 6: "1698148900"]))
        },
        LegacyPair([.fieldUndefined, .separatorLiteral]) {
            try fixture.answer(signing: fixture.fields([4: "undefined"]), separator: "\\u2063")
        },
        LegacyPair([.nonceUpperCase, .signatureRaw]) {
            let text = fixture.fields([5: fixture.fields[5].uppercased()]).joined(separator: "\u{2063}")
            let signature = try LegacyFixture.key.signature(for: Data(text.utf8))
            return fixture.answer(signature: LegacyFixture.base64(Array(signature.rawRepresentation)))
        },
        LegacyPair([.accountTokenUpperCase, .keyOther]) {
            try fixture.answer(
                signing: fixture.fields([4: fixture.fields[4].uppercased()]), key: LegacyFixture.otherKey)
        },
        LegacyPair([.keyIDInText, .keyOther]) {
            try fixture.answer(signing: fixture.fields([1: LegacyFixture.otherKeyID]), key: LegacyFixture.otherKey)
        },
        LegacyPair([.textNewline, .fieldNull]) {
            let text = fixture.fields([4: "null"]).joined(separator: "\u{2063}") + "\n"
            return try fixture.answer(signingBytes: Array(text.utf8))
        },
        LegacyPair([.digestTwice, .timestampSeconds]) {
            let text = fixture.fields([6: "1698148900"]).joined(separator: "\u{2063}")
            return try fixture.answer(signingBytes: Array(SHA256.hash(data: Data(text.utf8))))
        },
        LegacyPair([.productOfferSwapped, .uuidWithoutDashes]) {
            var fields = fixture.fields([5: fixture.fields[5].filter { $0 != "-" }])
            fields.swapAt(2, 3)
            return try fixture.answer(signing: fields)
        },
        LegacyPair([.nonceUpperCase, .fieldCase]) {
            try fixture.answer(
                signing: fixture.fields([0: fixture.bundleID.lowercased(), 5: fixture.nonce.uppercased()]))
        },
        LegacyPair([.uuidWithoutDashes, .fieldCase]) {
            let changes = [0: fixture.bundleID.lowercased(), 5: fixture.nonce.filter { $0 != "-" }]
            return try fixture.answer(signing: fixture.fields(changes))
        },
        LegacyPair([.accountTokenUpperCase, .fieldWhiteSpace]) {
            let changes = [3: fixture.offerID + " ", 4: fixture.fields[4].uppercased()]
            return try fixture.answer(signing: fixture.fields(changes))
        },
        LegacyPair([.timestampAnswerSeconds, .nonceUpperCase]) {
            let fixture = LegacyFixture(timestamp: "1698148900")
            return try fixture.answer(
                signing: fixture.fields([5: fixture.nonce.uppercased(), 6: "1698148900417"]))
        },
        LegacyPair([.signatureHalvesSwapped, .nonceUpperCase]) {
            let text = fixture.fields([5: fixture.fields[5].uppercased()]).joined(separator: "\u{2063}")
            let raw = Array(try LegacyFixture.key.signature(for: Data(text.utf8)).rawRepresentation)
            let swapped = try P256.Signing.ECDSASignature(rawRepresentation: raw[32...] + raw[..<32])
            return fixture.answer(signature: LegacyFixture.base64(Array(swapped.derRepresentation)))
        },
    ]
}
