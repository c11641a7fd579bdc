import SigningKit
import StrictJSON

/// Determines a token's audience from its claim `aud` and from its other claims.
struct AudienceCheck {
    private(set) var audience: TokenAudience?
    private(set) var findings: [Finding] = []

    init(_ claims: JSONObject) {
        let shown = Self.shown(by: claims)
        guard let value = claims["aud"] else {
            findings.append(Finding(.claimMissing, field: "aud", "The claim \"aud\" is missing."))
            audience = shown
            return
        }
        let told = tell(value)
        guard let told else {
            audience = shown
            return
        }
        guard let shown, shown != told, claims[told.distinctiveClaim] == nil else {
            audience = told
            return
        }
        audience = shown
        findings.append(
            Finding(
                .audienceWrong, field: "aud",
                "The audience is \"\(told.rawValue)\", but the claims are those of \"\(shown.rawValue)\"."))
    }

    /// The audience whose distinctive claim the token has; nil if there is none or more than one.
    private static func shown(by claims: JSONObject) -> TokenAudience? {
        let candidates = TokenAudience.allCases.filter { claims[$0.distinctiveClaim] != nil }
        return candidates.count == 1 ? candidates.first : nil
    }

    private mutating func tell(_ value: JSONValue) -> TokenAudience? {
        if let elements = try? value.elements() {
            findings.append(Finding(.audienceArray, field: "aud", "The audience is an array; it must be one string."))
            return elements.lazy.compactMap { TokenAudience(exactly: (try? $0.string()) ?? "") }.first
        }
        guard let text = try? value.string() else {
            findings.append(
                Finding(.claimKind, field: "aud", ClaimKind.message("aud", .string, value.kind)))
            return nil
        }
        if let audience = TokenAudience(exactly: text) { return audience }
        findings.append(
            text == "appstoreconnect-v1"
                ? Finding(
                    .audienceServerAPI, field: "aud",
                    "The audience is \"appstoreconnect-v1\": that is a token for Apple's server APIs, not for StoreKit."
                )
                : Finding(.audienceUnknown, field: "aud", "The audience \"\(text)\" is not one that StoreKit accepts."))
        return TokenAudience(rawValue: text.lowercased())
    }
}
