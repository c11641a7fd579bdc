import SigningKit
import StrictJSON

/// What a caller may send.
public struct OfferCodeRedemptionRequest: JSONReadable, Sendable {
    public let productID: String
    public let offerCode: String
    public let transactionID: String?

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: OfferCodeRedemption.descriptor.fields.map(\.name))
        productID = try object.required("productId") { value throws(JSONReadError) in try value.identifier() }
        offerCode = try object.required("offerCode") { value throws(JSONReadError) in try value.identifier() }
        transactionID = try object.optional("transactionId") { value throws(JSONReadError) in try value.identifier() }
    }
}
