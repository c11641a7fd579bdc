import SigningKit
public import StrictJSON

/// The request of the app's server about a customer.
public struct IntroductoryOfferEligibilityRequest: JSONReadable, Sendable {
    public let productID: String
    public let allowIntroductoryOffer: Bool
    public let transactionID: String

    /// - Throws: `JSONReadError` with the name of the member that violates its `TextRule`.
    public init(productID: String, allowIntroductoryOffer: Bool, transactionID: String) throws(JSONReadError) {
        self.productID = try TextRule.identifier.checked(productID, "productId")
        self.allowIntroductoryOffer = allowIntroductoryOffer
        self.transactionID = try TextRule.identifier.checked(transactionID, "transactionId")
    }

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: Self.members)
        productID = try object.required("productId") { value throws(JSONReadError) in try value.identifier() }
        allowIntroductoryOffer = try object.required("allowIntroductoryOffer") { value throws(JSONReadError) in
            try value.boolean()
        }
        transactionID = try object.required("transactionId") { value throws(JSONReadError) in try value.identifier() }
    }

    private static let members = IntroductoryOfferEligibility.descriptor.fields.map(\.name)
}
