import SigningKit
public import StrictJSON

/// The app's request for the signature of a promotional offer.
public struct LegacyPromotionalOfferRequest: JSONReadable, Sendable {
    public let productID: String
    public let offerIdentifier: String
    public let user: OfferUser

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: Self.members)
        let product = try Self.productMember(of: object)
        productID = try object.required(product) { value throws(JSONReadError) in try value.identifier() }
        offerIdentifier = try object.required("offerIdentifier") { value throws(JSONReadError) in
            try value.identifier()
        }
        user = try OfferUser(from: object)
    }

    /// `productId`, as in the JWS features, or `productIdentifier`, as on Apple's page of the legacy signature.
    private static func productMember(of object: JSONObject) throws(JSONReadError) -> String {
        guard object["productIdentifier"] != nil else { return "productId" }
        guard object["productId"] == nil else {
            throw JSONReadError(.invalid("means the same as productId; send only one of them"), at: "productIdentifier")
        }
        return "productIdentifier"
    }

    private static let members = [
        "productId", "productIdentifier", "offerIdentifier", "appAccountToken", "applicationUsername",
    ]
}
