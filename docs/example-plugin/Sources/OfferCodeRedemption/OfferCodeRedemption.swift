import AppStoreJWS
import SigningKit
import StrictJSON

/// A JWS for another audience. Apple has no such audience: it is invented for this example.
public struct OfferCodeRedemption: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        audience: "offer-code-redemption",
        name: "OfferCodeRedemption",
        summary: "The redemption of an offer code",
        description: "The app's server allows a customer to redeem an offer code.",
        fields: [
            .productID,
            FeatureField(
                "offerCode", .identifier, "The offer code.", example: #""SPRING2026""#, synonyms: ["code", "promocode"]),
            .transactionID(isRequired: false),
        ]
    )

    public init() {}

    public func subject(of input: OfferCodeRedemptionRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], offers: [input.offerCode], user: input.transactionID)
    }

    public func compose(
        _ input: OfferCodeRedemptionRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<JWSAnswer> {
        let signingInput = AppStoreJWS.signingInput(Self.descriptor.id, for: grant) { claims in
            claims.member("productId", input.productID)
            claims.member("offerCode", input.offerCode)
            if let transactionID = input.transactionID { claims.member("transactionId", transactionID) }
        }
        return Draft(signingInput: signingInput) { JWSAnswer(signingInput, $0, grant) }
    }
}
