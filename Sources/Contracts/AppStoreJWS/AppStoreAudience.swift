/// The value of the claim `aud` (Apple: "Generating JWS to sign App Store requests"). It is also the feature's ID.
public enum AppStoreAudience: String, CaseIterable, Sendable {
    case promotionalOffer = "promotional-offer"
    case introductoryOfferEligibility = "introductory-offer-eligibility"
    case advancedCommerce = "advanced-commerce-api"
}
