public import AppStoreJWS
public import SigningKit
import StrictJSON

/// The JWS that tells whether a customer may have an introductory offer, for
/// `introductoryOfferEligibility(compactJWS:)` (Apple: "Generating JWS to sign App Store requests").
public struct IntroductoryOfferEligibility: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: AppStoreAudience.introductoryOfferEligibility.rawValue,
        summary: "The JWS that allows or denies a customer an introductory offer",
        fields: [
            FeatureField("productId", .string, isRequired: true, "The subscription's product identifier"),
            FeatureField("allowIntroductoryOffer", .boolean, isRequired: true, "Whether the customer is eligible"),
            FeatureField(
                "transactionId", .string, isRequired: true, "Any transaction of the customer, or the appTransactionID"),
        ]
    )

    public init() {}

    /// An introductory offer has no identifier, because a product has at most one.
    public func subject(of input: IntroductoryOfferEligibilityRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], user: input.transactionID)
    }

    public func compose(
        _ input: IntroductoryOfferEligibilityRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<SignedJWS> {
        let signingInput = AppStoreJWS.signingInput(.introductoryOfferEligibility, for: grant) { claims in
            claims.member("productId", input.productID)
            claims.member("allowIntroductoryOffer", input.allowIntroductoryOffer)
            claims.member("transactionId", input.transactionID)
        }
        return Draft(signingInput: signingInput) { SignedJWS(signingInput, $0, grant) }
    }
}
