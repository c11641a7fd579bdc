import Crypto
import Encodings
import SigningKit

/// The signature of a server's request to CloudKit Web Services (Apple: "Accessing CloudKit Using a Server-to-Server Key").
///
/// What is signed is `date:hash:subpath`: the moment in ISO 8601, the padded Base64 of the body's SHA-256, and the path of
/// the request. The signature is DER in padded Base64.
public struct CloudKitRequest: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: "cloudkit-request",
        name: "CloudKitRequest",
        summary: "The signature of a server-to-server request to CloudKit Web Services",
        description: "For the headers of a request to CloudKit Web Services.",
        fields: [
            FeatureField(
                "subpath", .identifier, "The URL's path, from `/database/1/` on, without a query.",
                example: #""/database/1/iCloud.com.example.app/production/public/users/caller""#),
            FeatureField("body", .base64, isRequired: false, "The body's bytes; absent for a request without a body."),
        ],
        answer: [
            FeatureField("X-Apple-CloudKit-Request-KeyID", .keyID, "The key's ID in CloudKit."),
            FeatureField("X-Apple-CloudKit-Request-ISO8601Date", .string, "The gateway's time: whole seconds, UTC."),
            FeatureField("X-Apple-CloudKit-Request-SignatureV1", .base64, "The signature in DER."),
        ]
    )

    public init() {}

    /// A request to CloudKit names neither a product nor an offer.
    public func subject(of input: CloudKitRequestInput) -> OfferSubject { OfferSubject() }

    public func compose(_ input: CloudKitRequestInput, for grant: Grant) throws(FeatureError) -> Draft<CloudKitHeaders>
    {
        let date = grant.issuedAt.iso8601
        let hash = Base64.standard.encode(Array(SHA256.hash(data: input.body)))
        let signingInput = Array("\(date):".utf8) + hash + Array(":\(input.subpath)".utf8)
        return Draft(signingInput: signingInput) { CloudKitHeaders(date: date, signature: $0, grant: grant) }
    }
}
