import SigningKit
import StrictJSON

/// The claim `iat`: whole seconds since 1970, as a number.
enum IssuedAtCheck {
    static func findings(_ value: JSONValue, now: Timestamp) -> [Finding] {
        let text = String(decoding: value.rawBytes, as: UTF8.self)
        switch value.kind {
        case .number: break
        case .string:
            return [Finding(.issuedAtText, field: "iat", "The claim \"iat\" is the text \(text), not a number.")]
        case .object, .array, .boolean, .null:
            return [Finding(.claimKind, field: "iat", ClaimKind.message("iat", .number, value.kind))]
        }
        guard let seconds = try? value.integer() else {
            return [
                Finding(
                    .issuedAtFraction, field: "iat",
                    "The claim \"iat\" is \(text): it has a fraction or an exponent, and Apple's page gives whole seconds."
                )
            ]
        }
        switch seconds {
        case ..<1_000_000_000:
            return [
                Finding(
                    .issuedAtRange, field: "iat",
                    "The claim \"iat\" is \(seconds): a moment before 2001, read as seconds since 1970.")
            ]
        case 100_000_000_000...:
            return [
                Finding(
                    .issuedAtMilliseconds, field: "iat",
                    "The claim \"iat\" is \(seconds): that is in milliseconds, and \"iat\" counts seconds.")
            ]
        default: return MomentCheck.token(seconds, now: now)
        }
    }
}
