import SigningKit
import StrictJSON

/// Checks the claim `iat`: whole seconds since 1970, as a number.
enum IssuedAtCheck {
    static func findings(_ value: JSONValue, now: Timestamp) -> [Finding] {
        let text = String(decoding: value.rawBytes, as: UTF8.self)
        switch value.kind {
        case .number: break
        case .string:
            return [Finding(.issuedAtText, field: "iat", "The claim \"iat\" is the text \(text), not a number.")]
        case .object, .array, .boolean, .null:
            return [.claimKind("iat", .number, value.kind)]
        }
        if let seconds = try? value.integer() { return findings(seconds, now: now) }
        guard let number = Double(text), abs(number) < 1e18 else {
            return [Finding(.issuedAtRange, field: "iat", "The claim \"iat\" is \(text): that is not a time.")]
        }
        return findings(Int64(number), now: now) + [
            Finding(
                .issuedAtFraction, .warning, field: "iat",
                "The claim \"iat\" is \(text), with a fraction or an exponent. Apple's page \"Generating JWS to sign App Store requests\" shows whole seconds and demands none; Apple's Swift library (JWSSignatureCreator.swift) writes a fraction."
            )
        ]
    }

    private static func findings(_ seconds: Int64, now: Timestamp) -> [Finding] {
        switch seconds {
        case ..<1_000_000_000:
            return [
                Finding(
                    .issuedAtRange, field: "iat",
                    "The claim \"iat\" is \(seconds): a moment before 2001, read as seconds since 1970.")
            ]
        case 100_000_000_000_000...:
            return [
                Finding(
                    .issuedAtFiner, field: "iat",
                    "The claim \"iat\" is \(seconds): that is in \(seconds < 100_000_000_000_000_000 ? "microseconds" : "nanoseconds"), and \"iat\" counts seconds."
                )
            ]
        case 100_000_000_000...:
            return [
                Finding(
                    .issuedAtMilliseconds, field: "iat",
                    "The claim \"iat\" is \(seconds): that is in milliseconds, and \"iat\" counts seconds.")
            ]
        default: return TimestampCheck.token(seconds, now: now)
        }
    }
}
