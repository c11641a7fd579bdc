import SigningKit
public import StrictJSON

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
