import SigningKit
public import StrictJSON

/// The app's request for the JWS of a promotional offer.
public struct PromotionalOfferRequest: JSONReadable, Sendable {
    public let productID: String
    public let offerIdentifier: String
    public let transactionID: String?

    /// - Throws: `JSONReadError` with the name of the member that violates its `TextRule`.
    public init(productID: String, offerIdentifier: String, transactionID: String?) throws(JSONReadError) {
        self.productID = try TextRule.identifier.checked(productID, "productId")
        self.offerIdentifier = try TextRule.identifier.checked(offerIdentifier, "offerIdentifier")
        self.transactionID = try TextRule.identifier.checked(transactionID, "transactionId")
    }

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: Self.members)
        productID = try object.required("productId") { value throws(JSONReadError) in try value.identifier() }
        offerIdentifier = try object.required("offerIdentifier") { value throws(JSONReadError) in
            try value.identifier()
        }
        transactionID = try object.optional("transactionId") { value throws(JSONReadError) in try value.identifier() }
    }

    private static let members = PromotionalOffer.descriptor.fields.map(\.name)
}
