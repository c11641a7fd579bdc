import Encodings
import SigningKit
public import StrictJSON

/// The app's request for the signature of a promotional offer.
public struct LegacyPromotionalOfferRequest: JSONReadable, Sendable {
    public let productID: String
    public let offerIdentifier: String
    /// The user of the offer, with the value that the app passes to StoreKit with the purchase: `appAccountToken`, a UUID
    /// in lower case as Apple requires, or `applicationUsername`, unchanged. Nil if the signed field is empty.
    public let user: String?

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: Self.members)
        let product = try Self.productMember(of: object)
        productID = try object.required(product) { value throws(JSONReadError) in try value.identifier() }
        offerIdentifier = try object.required("offerIdentifier") { value throws(JSONReadError) in
            try value.identifier()
        }
        user = try Self.user(of: object)
    }

    /// `productId`, as in the JWS features, or `productIdentifier`, as on Apple's page of the legacy signature.
    private static func productMember(of object: JSONObject) throws(JSONReadError) -> String {
        guard object["productIdentifier"] != nil else { return "productId" }
        guard object["productId"] == nil else {
            throw JSONReadError(.invalid("means the same as productId; send only one of them"), at: "productIdentifier")
        }
        return "productIdentifier"
    }

    /// Apple's page allows an empty string for no user.
    private static func user(of object: JSONObject) throws(JSONReadError) -> String? {
        let token = try object.optional("appAccountToken") { value throws(JSONReadError) in try account(value) } ?? ""
        let name = try object.optional("applicationUsername") { value throws(JSONReadError) in
            try value.text(.userName)
        }
        guard let name, !name.isEmpty else { return token.isEmpty ? nil : token }
        guard token.isEmpty else {
            throw JSONReadError(
                .invalid("cannot be sent together with appAccountToken; send the one that the app gives to StoreKit"),
                at: "applicationUsername")
        }
        return name
    }

    private static func account(_ value: JSONValue) throws(JSONReadError) -> String {
        let text = try value.string()
        guard text.isEmpty || UUIDText.isUUID(text) else {
            throw JSONReadError(
                .invalid(
                    "must be a UUID, such as 7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43; leave it out or empty if there is none"
                ))
        }
        // A UUID has only ASCII, so the locale has no effect.
        return text.lowercased()
    }

    private static let members = [
        "productId", "productIdentifier", "offerIdentifier", "appAccountToken", "applicationUsername",
    ]
}
