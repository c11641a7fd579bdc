import StrictJSON

/// The audiences that the App Store accepts in a JWS for StoreKit (Apple: "Generating JWS to sign App Store requests").
public enum TokenAudience: String, CaseIterable, Sendable {
    case promotionalOffer = "promotional-offer"
    case introductoryOfferEligibility = "introductory-offer-eligibility"
    case advancedCommerce = "advanced-commerce-api"

    /// The claims of the feature, in addition to the base claims.
    var claims: [TokenClaim] {
        switch self {
        case .promotionalOffer:
            [
                TokenClaim("productId", .string), TokenClaim("offerIdentifier", .string),
                TokenClaim("transactionId", .string, isRequired: false),
            ]
        case .introductoryOfferEligibility:
            [
                TokenClaim("productId", .string), TokenClaim("allowIntroductoryOffer", .boolean),
                TokenClaim("transactionId", .string),
            ]
        case .advancedCommerce: [TokenClaim("request", .string)]
        }
    }

    /// The claim that no other audience has.
    var distinctiveClaim: String {
        switch self {
        case .promotionalOffer: "offerIdentifier"
        case .introductoryOfferEligibility: "allowIntroductoryOffer"
        case .advancedCommerce: "request"
        }
    }
}
