import Encodings
import SigningKit
import StrictJSON

extension SignatureExaminer {
    /// - Parameter isSearching: Whether to search for the mistake if the signature does not verify.
    public func examine(_ answer: LegacyAnswer, isSearching: Bool) -> Explanation {
        let text = LegacyText(answer)
        var form = formFindings(answer)
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

    /// Checks the fields, without verifying the signature.
    private func formFindings(_ answer: LegacyAnswer) -> [Finding] {
        var findings: [Finding] = []
        checkTimestamp(answer.timestamp, &findings)
        if !UUIDText.isUUID(answer.nonce) {
            findings.add(.nonceNotUUID, in: "nonce", "The nonce \"\(answer.nonce)\" is not a UUID.")
        }
        if case .appAccountToken(let token) = answer.user, !token.isEmpty, !UUIDText.isUUID(token) {
            findings.add(
                .accountTokenNotUUID, in: "appAccountToken",
                "The appAccountToken \"\(token)\" is not a UUID, and StoreKit takes nothing else.")
        }
        var texts: [(LegacyField, String, TextRule)] = [
            (.bundleID, answer.bundleID, .identifier), (.keyID, answer.keyID, .identifier),
            (.productID, answer.productID, .identifier), (.offerID, answer.offerID, .identifier),
        ]
        switch answer.user {
        case .nobody, .appAccountToken(""), .applicationUsername(""): break
        case .appAccountToken(let text), .applicationUsername(let text): texts.append((.user, text, .userName))
        }
        for (field, text, rule) in texts {
            let name = answer.name(of: field)
            if text.unicodeScalars.contains("\u{2063}") {
                findings.add(.fieldSeparatorInside, in: name, "\(name) holds U+2063, the separator of the fields.")
            } else {
                findings.addText(text, rule, in: name, subject: name)
            }
        }
        findings.addKeyID(answer.keyID, in: "keyIdentifier")
        return findings
    }

    private func checkTimestamp(_ text: String, _ findings: inout [Finding]) {
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
}
