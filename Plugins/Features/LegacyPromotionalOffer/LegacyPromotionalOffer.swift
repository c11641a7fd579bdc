public import SigningKit

/// The promotional-offer signature for StoreKit 1 and `promotionalOffer(offerID:keyID:nonce:signature:timestamp:)`.
///
/// The signed text has seven fields in UTF-8, joined by U+2063 INVISIBLE SEPARATOR. The signature is ECDSA with
/// SHA-256, in DER and padded Base64 (Apple: "Generating a signature for promotional offers").
public struct LegacyPromotionalOffer: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: "legacy-promotional-offer",
        summary: "The signature of a promotional offer for StoreKit 1 (SKPaymentDiscount)",
        fields: [
            FeatureField(
                "productId", .string, isRequired: true,
                "The subscription's product identifier; Apple's name, productIdentifier, is accepted too"),
            FeatureField("offerIdentifier", .string, isRequired: true, "The offer's identifier in App Store Connect"),
            FeatureField(
                "appAccountToken", .string, isRequired: false, "A UUID, signed in lower case; empty if there is none"),
            FeatureField(
                "applicationUsername", .string, isRequired: false,
                "Any string, signed as it is; not together with appAccountToken"),
        ]
    )

    public init() {}

    public func subject(of input: LegacyPromotionalOfferRequest) -> OfferSubject {
        OfferSubject(products: [input.productID], offers: [input.offerIdentifier], user: input.user.identifier)
    }

    public func compose(
        _ input: LegacyPromotionalOfferRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<LegacyPromotionalOfferAnswer> {
        let fields = [
            grant.app.bundleID, grant.app.keyID, input.productID, input.offerIdentifier, input.user.signedText,
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
