import SigningKit
import StrictJSON

/// The findings that tokens and legacy signatures share.
extension [Finding] {
    /// Findings about the text of a field or claim.
    ///
    /// - Parameters:
    ///   - subject: The field in messages, such as `The claim "bid"`.
    ///   - severity: The severity of invisible characters and misplaced white space.
    mutating func addText(
        _ text: String, _ rule: TextRule, in field: String, subject: String, severity: Finding.Severity = .warning
    ) {
        switch text {
        case "": add(.fieldEmpty, in: field, "\(subject) is empty.")
        case "undefined": add(.fieldUndefined, in: field, "\(subject) is the text \"undefined\".")
        case "null", "nil", "None", "(null)", "NULL": add(.fieldNull, in: field, "\(subject) is the text \"\(text)\".")
        default: addTextFault(text, rule, in: field, severity: severity)
        }
    }

    /// A finding about invisible characters and misplaced white space. It is a warning if Apple accepts such a text.
    mutating func addTextFault(
        _ text: String, _ rule: TextRule, in field: String, severity: Finding.Severity = .warning
    ) {
        guard let fault = rule.fault(in: text) else { return }
        add(
            fault == rule.whiteSpaceFault(in: text) ? .fieldWhiteSpace : .fieldInvisible, in: field,
            "\(JSONReadError(.invalid(fault)).inside(field))", severity: severity)
    }

    /// Key IDs of App Store Connect have ten characters: digits and upper-case letters.
    mutating func addKeyID(_ keyID: String, in field: String) {
        guard !IdentifierForm.tenCharacters.matches(keyID), !keyID.isEmpty else { return }
        add(
            .keyIDShape, in: field,
            "The key ID \"\(keyID)\" does not look like one of App Store Connect's: ten digits and upper-case letters.",
            severity: .warning)
    }

    /// Findings about the time of a signature.
    ///
    /// - Parameters:
    ///   - time: In milliseconds since 1970.
    ///   - expired: `offerExpired` for a legacy signature: Apple keeps an offer active for 24 hours (Apple: "Generating
    ///     a signature for promotional offers"). `issuedLongAgo` for a JWS: Apple does not document its lifetime.
    mutating func addAge(of time: Int64, _ expired: FindingCode, in field: String, now: Timestamp) {
        let age = now.milliseconds - time
        let date =
            time < 253_402_300_800_000 ? Timestamp(milliseconds: time).secondText + "Z" : "after the year 9999"
        if age > 24 * 3_600_000 {
            let span = Self.span(age)
            let message =
                expired == .offerExpired
                ? "The timestamp is \(span) old (\(date)); Apple keeps an offer active for 24 hours."
                : "The token was issued \(span) ago (\(date)). Apple computes an expiration time from iat and does not "
                    + "say which; a day is too long to count on."
            add(expired, in: field, message, severity: .warning)
        } else if age < -60_000 {  // The clocks of two machines may differ by a minute.
            add(
                .issuedInFuture, in: field, "\(field) is \(Self.span(-age)) in the future (\(date)).",
                severity: .warning)
        }
    }

    private static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        return switch minutes {
        case ..<120: "\(minutes) minutes"
        case ..<2880: "\(minutes / 60) hours"
        default: "\(minutes / 1440) days"
        }
    }
}
