public import AppStoreJWS
public import SigningKit
public import StrictJSON

/// The JWS that tells whether a customer may have an introductory offer, for
/// `introductoryOfferEligibility(compactJWS:)` (Apple: "Generating JWS to sign App Store requests").
public struct IntroductoryOfferEligibility: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        audience: "introductory-offer-eligibility",
        name: "IntroductoryOfferEligibility",
        summary: "A customer's eligibility for an introductory offer",
        description: """
            For `Product.PurchaseOption.introductoryOfferEligibility(compactJWS:)`: the app's server decides who may have the
            introductory offer.
            """,
        fields: [
            .productID,
            FeatureField(
                "allowIntroductoryOffer", .boolean, "Whether the customer may have the introductory offer.",
                example: "true", synonyms: ["allowintrooffer"]),
            .transactionID(isRequired: true),
        ]
    )

    public init() {}

    /// An introductory offer has no identifier, because a product has at most one.
    public func subject(of input: IntroductoryOfferEligibilityRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], user: input.transactionID)
    }

    public func compose(
        _ input: IntroductoryOfferEligibilityRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<JWSAnswer> {
        let signingInput = AppStoreJWS.signingInput(Self.descriptor.id, for: grant) { claims in
            claims.member("productId", input.productID)
            claims.member("allowIntroductoryOffer", input.allowIntroductoryOffer)
            claims.member("transactionId", input.transactionID)
        }
        return Draft(signingInput: signingInput) { JWSAnswer(signingInput, $0, grant) }
    }
}

/// The request of the app's server about a customer.
public struct IntroductoryOfferEligibilityRequest: JSONReadable, Sendable {
    public let productID: String
    public let allowIntroductoryOffer: Bool
    public let transactionID: String

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: IntroductoryOfferEligibility.descriptor.fields.map(\.name))
        productID = try object.required("productId") { value throws(JSONReadError) in try value.identifier() }
        allowIntroductoryOffer = try object.required("allowIntroductoryOffer") { value throws(JSONReadError) in
            try value.boolean()
        }
        transactionID = try object.required("transactionId") { value throws(JSONReadError) in try value.identifier() }
    }
}
