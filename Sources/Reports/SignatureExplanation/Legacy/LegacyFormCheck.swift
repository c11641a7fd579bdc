import Encodings
import SigningKit
import StrictJSON

/// Checks the fields of a legacy answer, without verifying the signature.
struct LegacyFormCheck {
    let answer: LegacyAnswer
    let now: Timestamp

    func findings() -> [Finding] {
        timestamp() + nonce() + user() + fields() + TimestampCheck.keyID(answer.keyID, field: "keyIdentifier")
    }

    private func timestamp() -> [Finding] {
        guard let timestamp = LegacyTimestamp(answer.timestamp) else {
            return [
                Finding(
                    .timestampNotNumber, field: "timestamp",
                    "The timestamp \"\(answer.timestamp)\" is not a number of milliseconds since 1970.")
            ]
        }
        var findings: [Finding] = []
        if !timestamp.isWhole {
            findings.append(
                Finding(
                    .timestampFraction, field: "timestamp",
                    "The timestamp \(answer.timestamp) is written with a fraction or an exponent."))
        }
        switch timestamp.unit {
        case .seconds:
            findings.append(
                Finding(
                    .timestampSeconds, field: "timestamp",
                    "The timestamp \(answer.timestamp) is in seconds: in milliseconds it is a moment of 1970."))
        case .milliseconds:
            findings += TimestampCheck.legacy(timestamp.whole, now: now)
        case .finer:
            findings.append(
                Finding(
                    .timestampFiner, field: "timestamp", "The timestamp \(answer.timestamp) is finer than milliseconds."
                ))
        }
        return findings
    }

    private func nonce() -> [Finding] {
        guard !UUIDText.isUUID(answer.nonce) else { return [] }
        return [Finding(.nonceNotUUID, field: "nonce", "The nonce \"\(answer.nonce)\" is not a UUID.")]
    }

    private func user() -> [Finding] {
        guard case .appAccountToken(let token) = answer.user, !token.isEmpty, !UUIDText.isUUID(token) else { return [] }
        return [
            Finding(
                .accountTokenNotUUID, field: "appAccountToken",
                "The appAccountToken \"\(token)\" is not a UUID, and StoreKit takes nothing else.")
        ]
    }

    private func fields() -> [Finding] {
        let texts: [(field: LegacyField, text: String)] = [
            (.bundleID, answer.bundleID), (.keyID, answer.keyID), (.productID, answer.productID),
            (.offerID, answer.offerID), (.user, answer.user.text),
        ]
        return texts.flatMap { field, text in
            contents(text, name: field.name(in: answer), mayBeEmpty: field == .user)
        }
    }

    private func contents(_ text: String, name: String, mayBeEmpty: Bool) -> [Finding] {
        if text.isEmpty, mayBeEmpty { return [] }
        if text.unicodeScalars.contains("\u{2063}") {
            return [Finding(.fieldSeparatorInside, field: name, "\(name) holds U+2063, the separator of the fields.")]
        }
        return TextProperties.findings(text, mayBeEmpty ? .userName : .identifier, field: name, subject: name)
    }
}
