public import AppStoreJWS
public import SigningKit
public import StrictJSON

/// The JWS of a promotional offer, for `promotionalOffer(_:compactJWS:)`
/// (Apple: "Generating JWS to sign App Store requests").
public struct PromotionalOffer: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        audience: "promotional-offer",
        name: "PromotionalOffer",
        summary: "A promotional offer as a JWS",
        description: """
            For `Product.PurchaseOption.promotionalOffer(_:compactJWS:)`, and for `promotionalOfferSignatureV2` of Retention
            Messaging.
            """,
        fields: [
            .productID,
            FeatureField(
                "offerIdentifier", .identifier, "The offer's identifier in App Store Connect.",
                example: #""spring2026""#, synonyms: ["offer", "offerid", "subscriptionofferid", "discountid"]),
            .transactionID(isRequired: false, " Apple recommends it."),
        ]
    )

    public init() {}

    public func subject(of input: PromotionalOfferRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], offers: [input.offerIdentifier], user: input.transactionID)
    }

    public func compose(_ input: PromotionalOfferRequest, for grant: Grant) throws(FeatureError) -> Draft<JWSAnswer> {
        let signingInput = AppStoreJWS.signingInput(Self.descriptor.id, for: grant) { claims in
            claims.member("productId", input.productID)
            claims.member("offerIdentifier", input.offerIdentifier)
            // Omitted if absent, because Apple accepts no null.
            if let transactionID = input.transactionID { claims.member("transactionId", transactionID) }
        }
        return Draft(signingInput: signingInput) { JWSAnswer(signingInput, $0, grant) }
    }
}

/// The app's request for the JWS of a promotional offer.
public struct PromotionalOfferRequest: JSONReadable, Sendable {
    public let productID: String
    public let offerIdentifier: String
    public let transactionID: String?

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: PromotionalOffer.descriptor.fields.map(\.name))
        productID = try object.required("productId") { value throws(JSONReadError) in try value.identifier() }
        offerIdentifier = try object.required("offerIdentifier") { value throws(JSONReadError) in
            try value.identifier()
        }
        transactionID = try object.optional("transactionId") { value throws(JSONReadError) in try value.identifier() }
    }
}
