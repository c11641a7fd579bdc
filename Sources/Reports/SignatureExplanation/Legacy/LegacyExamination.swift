import Encodings
import SigningKit
import StrictJSON

extension SignatureExaminer {
    /// - Parameter isSearching: Whether to search for the mistake if the signature does not verify.
    public func examine(_ answer: LegacyAnswer, isSearching: Bool) -> Explanation {
        let text = LegacyText(answer)
        var form = LegacyForm(answer, now: now).findings
        let reading = SignatureReading(Array(answer.signature.utf8), wanted: .der)
        if reading == nil {
            form.add(
                .signatureUnreadable, in: "signature",
                "The signature holds no ECDSA signature: \(answer.signature.utf8.count) characters that are neither "
                    + "DER nor 64 bytes in any Base64, nor hexadecimal.")
        }
        let parts = LegacyField.allCases.map { field in
            SigningInputRendering.Part(answer.name(of: field), Array(text[field].utf8))
        }
        let examination = Examination(
            keys: keys, maximumVerifications: maximumVerifications, kind: "legacy-promotional-offer",
            keyID: answer.keyID, keyIDField: "keyIdentifier", reading: reading,
            rendering: SigningInputRendering(parts, separator: "U+2063", signingInput: text.bytes), form: form)
        guard isSearching else { return examination.explanation(of: text.bytes, search: nil) }
        let mistakes = LegacyMistakes(answer, keys: keys)
        return examination.explanation(of: text.bytes) { signature, verifier in
            var search = LegacySearch(mistakes, signature, verifier)
            return search.hit()
        }
    }
}

/// Checks the fields of a legacy answer, without verifying the signature.
private struct LegacyForm {
    private let answer: LegacyAnswer
    private(set) var findings: [Finding] = []

    init(_ answer: LegacyAnswer, now: Timestamp) {
        self.answer = answer
        checkTimestamp(now: now)
        if !UUIDText.isUUID(answer.nonce) {
            findings.add(.nonceNotUUID, in: "nonce", "The nonce \"\(answer.nonce)\" is not a UUID.")
        }
        if case .appAccountToken(let token) = answer.user, !token.isEmpty, !UUIDText.isUUID(token) {
            findings.add(
                .accountTokenNotUUID, in: "appAccountToken",
                "The appAccountToken \"\(token)\" is not a UUID, and StoreKit takes nothing else.")
        }
        check(.bundleID, answer.bundleID)
        check(.keyID, answer.keyID)
        check(.productID, answer.productID)
        check(.offerID, answer.offerID)
        switch answer.user {
        case .nobody: break
        case .appAccountToken(let text), .applicationUsername(let text):
            if !text.isEmpty { check(.user, text, .userName) }
        }
        findings.addKeyID(answer.keyID, in: "keyIdentifier")
    }

    private mutating func checkTimestamp(now: Timestamp) {
        let text = answer.timestamp
        guard let timestamp = LegacyTimestamp(text) else {
            return findings.add(
                .timestampNotNumber, in: "timestamp",
                "The timestamp \"\(text)\" is not a number of milliseconds since 1970.")
        }
        if !timestamp.isWhole {
            findings.add(
                .timestampFraction, in: "timestamp",
                "The timestamp \(text) is written with a fraction or an exponent.")
        }
        switch timestamp.unit {
        case .seconds:
            findings.add(
                .timestampSeconds, in: "timestamp",
                "The timestamp \(text) is in seconds: in milliseconds it is a moment of 1970.")
        case .milliseconds: findings.addAge(of: timestamp.whole, .offerExpired, in: "timestamp", now: now)
        case .finer: findings.add(.timestampFiner, in: "timestamp", "The timestamp \(text) is finer than milliseconds.")
        }
    }

    private mutating func check(_ field: LegacyField, _ text: String, _ rule: TextRule = .identifier) {
        let name = answer.name(of: field)
        if text.unicodeScalars.contains("\u{2063}") {
            findings.add(.fieldSeparatorInside, in: name, "\(name) holds U+2063, the separator of the fields.")
        } else {
            findings.addText(text, rule, in: name, subject: name)
        }
    }
}
