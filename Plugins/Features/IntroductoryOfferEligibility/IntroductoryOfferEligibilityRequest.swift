import SigningKit
public import StrictJSON

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
