public import AppStoreJWS
public import SigningKit
import StrictJSON

/// The JWS of a promotional offer, for `promotionalOffer(_:compactJWS:)`
/// (Apple: "Generating JWS to sign App Store requests").
public struct PromotionalOffer: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: AppStoreAudience.promotionalOffer.rawValue,
        summary: "The JWS of a promotional offer",
        fields: [
            FeatureField("productId", .string, isRequired: true, "The subscription's product identifier"),
            FeatureField("offerIdentifier", .string, isRequired: true, "The offer's identifier in App Store Connect"),
            FeatureField(
                "transactionId", .string, isRequired: false,
                "Any transaction of the customer, or the appTransactionID; recommended"),
        ]
    )

    public init() {}

    public func subject(of input: PromotionalOfferRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], offers: [input.offerIdentifier], user: input.transactionID)
    }

    public func compose(_ input: PromotionalOfferRequest, for grant: Grant) throws(FeatureError) -> Draft<SignedJWS> {
        let signingInput = AppStoreJWS.signingInput(.promotionalOffer, for: grant) { claims in
            claims.member("productId", input.productID)
            claims.member("offerIdentifier", input.offerIdentifier)
            // Omitted if absent, because Apple accepts no null.
            if let transactionID = input.transactionID { claims.member("transactionId", transactionID) }
        }
        return Draft(signingInput: signingInput) { SignedJWS(signingInput, $0, grant) }
    }
}
