import Encodings
public import SigningKit
public import StrictJSON

/// The promotional-offer signature for StoreKit 1 and `promotionalOffer(offerID:keyID:nonce:signature:timestamp:)`.
///
/// The signed text has seven fields in UTF-8, joined by U+2063 INVISIBLE SEPARATOR. The signature is ECDSA with
/// SHA-256, in DER and padded Base64 (Apple: "Generating a signature for promotional offers").
public struct LegacyPromotionalOffer: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: "legacy-promotional-offer",
        name: "LegacyPromotionalOffer",
        summary: "A promotional offer for StoreKit 1",
        description: """
            Signs seven fields, joined by U+2063, for `SKPaymentDiscount` and for
            `Product.PurchaseOption.promotionalOffer(offerID:keyID:nonce:signature:timestamp:)`. Apple keeps the offer active
            for 24 hours after `timestamp`.
            """,
        fields: [
            FeatureField(
                "productId", .identifier,
                "The subscription's product identifier; Apple's name, `productIdentifier`, is accepted too.",
                example: #""com.example.app.monthly""#),
            FeatureField(
                "offerIdentifier", .identifier, "The offer's identifier in App Store Connect.",
                example: #""spring2026""#),
            FeatureField(
                "appAccountToken", .uuid, isRequired: false, "Signed in lower case, as Apple demands; empty for none.",
                example: #""7E3FB204-2F2B-4A05-9A9F-2F5E5C9E5A43""#),
            FeatureField(
                "applicationUsername", .userName, isRequired: false,
                "Signed as it is; empty for none. Not together with `appAccountToken`."),
        ],
        answer: [
            FeatureField("keyIdentifier", .keyID, "The ID of the key that signed.", example: #""2X9R4HXF34""#),
            FeatureField(
                "nonce", .nonce, "The sixth signed field: a fresh UUID, for one purchase attempt.",
                example: #""702278ca-7e6b-4b20-b635-7261690c0606""#),
            FeatureField(
                "timestamp", .integer, "The seventh signed field: the time, in milliseconds since 1970.",
                example: "1795250162277"),
            FeatureField(
                "signature", .base64, "DER in padded Base64. StoreKit 2 wants its bytes, `Data(base64Encoded:)`.",
                example: """
                    "MEUCIQC853kBOcZNyu4/gRyd4lvzFnKSiYhJOQg6p5gDgyXDZg\
                    IgVb0Q9oCvZ6LJ0O1CytHwk+W0wYkGqfpzE8d1T3vXhJ4="
                    """),
        ],
        openAPI: String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
    )

    public init() {}

    public func subject(of input: LegacyPromotionalOfferRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], offers: [input.offerIdentifier], user: input.user)
    }

    public func compose(
        _ input: LegacyPromotionalOfferRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<LegacyPromotionalOfferAnswer> {
        let fields = [
            grant.app.bundleID, grant.app.keyID, input.productID, input.offerIdentifier, input.user ?? "",
        ]
        var signingInput: [UInt8] = []
        signingInput.reserveCapacity(fields.reduce(96) { $0 + $1.utf8.count + Self.separator.count })
        for field in fields {
            signingInput.append(contentsOf: field.utf8)
            signingInput.append(contentsOf: Self.separator)
        }
        signingInput.append(contentsOf: grant.nonce.text)
        signingInput.append(contentsOf: Self.separator)
        signingInput.append(contentsOf: String(grant.issuedAt.milliseconds).utf8)
        return Draft(signingInput: signingInput) { LegacyPromotionalOfferAnswer(signature: $0, grant: grant) }
    }

    /// U+2063 in UTF-8.
    private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]
}

/// The values that the app passes to StoreKit: `keyIdentifier`, `nonce`, `timestamp` (milliseconds, a number),
/// `signature` (DER in padded Base64).
public struct LegacyPromotionalOfferAnswer: JSONWritable, Sendable {
    public let signature: P256Signature
    public let grant: Grant

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyIdentifier", grant.app.keyID)
            writer.member("nonce", unescaped: grant.nonce.text)
            writer.member("timestamp", grant.issuedAt.milliseconds)
            writer.member("signature", unescaped: Base64.standard.encode(signature.derRepresentation))
        }
    }
}

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
