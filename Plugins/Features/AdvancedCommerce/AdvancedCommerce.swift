public import AppStoreJWS
import Encodings
public import SigningKit
public import StrictJSON

/// The JWS that carries an in-app request of the Advanced Commerce API
/// (Apple: "Sending Advanced Commerce API requests from your app").
public struct AdvancedCommerce: SigningFeature {
    /// How strictly a request is checked before it is signed.
    public enum Validation: String, CaseIterable, Sendable {
        /// Everything that Apple documents: members, lengths, currencies, periods, offers.
        case full
        /// A JSON object with `operation`, `version` and `requestInfo`; for requests that Apple has added since.
        case envelope
    }

    public static let descriptor = FeatureDescriptor(
        audience: "advanced-commerce-api",
        name: "AdvancedCommerce",
        summary: "An in-app request of the Advanced Commerce API",
        description: """
            The request's bytes are signed as they came: spaces, order and escapes. Send it as an object in `request`, or as
            Base64 of its text in `requestData`.

            The schema is what the gateway demands with `validation.advancedCommerce: full`, its default. With `envelope` it
            takes every object that has `operation`, `version` and `requestInfo`.
            """,
        fields: [
            FeatureField(
                "request", .object, isRequired: false, "The request; its bytes are signed as they come.",
                example: """
                    {"operation":"CREATE_ONE_TIME_CHARGE","version":"1",\
                    "requestInfo":{"requestReferenceId":"11aa22bb-33cc-44dd-88ee-55ff66aa77bb"},\
                    "currency":"USD","taxCode":"C003-00-2","item":{"SKU":"movie.rental","displayName":"Movie",\
                    "description":"A rental of 48 h","price":1990}}
                    """),
            FeatureField(
                "requestData", .base64, isRequired: false,
                "The request's bytes in padded Base64; exactly one of `request` and `requestData` is required."),
        ],
        answer: JWSAnswer.fields + [
            FeatureField(
                "advancedCommerceData", .encodedObject(members: ["signatureInfo"]),
                """
                Padded Base64 of `{"signatureInfo":{"token":"<jws>"}}`. Its bytes are the value of StoreKit's purchase option \
                of this name; as text it is what Retention Messaging takes.
                """,
                example: #""eyJzaWduYXR1cmVJbmZvIjp7InRva2VuIjoiPGp3cz4ifX0=""#)
        ],
        claims: [
            FeatureField(
                "request", .encodedObject(members: ["operation", "version", "requestInfo"]),
                "The request's bytes in padded Base64.", synonyms: ["requestdata"])
        ],
        openAPI: String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
    )

    public static let settings = [
        PluginSetting(
            "advancedCommerce",
            .choice(default: Validation.full.rawValue, of: Validation.allCases.map(\.rawValue)),
            "how much of an Advanced Commerce request is checked before it is signed")
    ]

    public let validation: Validation

    /// - Parameter settings: of this feature; others are ignored.
    public init(_ settings: PluginSettings) {
        self.init(validation: Validation(rawValue: settings.text("advancedCommerce")) ?? .full)
    }

    public init(validation: Validation = .full) {
        self.validation = validation
    }

    public func subject(of input: AdvancedCommerceRequest) -> OfferSubject {
        NamedIdentifiers(in: input.request).subject
    }

    public func compose(
        _ input: AdvancedCommerceRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<AdvancedCommerceAnswer> {
        do { try check(input.request) } catch { throw .request(error.inside(input.member)) }
        let request = Base64.standard.encode(input.bytes)
        let signingInput = AppStoreJWS.signingInput(Self.descriptor.id, for: grant) { claims in
            claims.member("request", unescaped: request)
        }
        return Draft(signingInput: signingInput) { AdvancedCommerceAnswer(signed: JWSAnswer(signingInput, $0, grant)) }
    }

    private func check(_ request: JSONValue) throws(JSONReadError) {
        switch validation {
        case .full: try Operation.check(request)
        case .envelope: try Envelope.check(request)
        }
    }
}

/// The signed request as StoreKit takes it: `jws` for `AdvancedCommerceProduct.purchase(compactJWS:)`, and
/// `advancedCommerceData`, once decoded, for the purchase option of that name.
public struct AdvancedCommerceAnswer: JSONWritable, Sendable {
    public let signed: JWSAnswer

    /// Padded Base64 of `{"signatureInfo":{"token":"<jws>"}}`, as ASCII.
    public var advancedCommerceData: [UInt8] {
        var data = JSONWriter(capacity: signed.jws.count + 32)
        data.object { data in
            data.name("signatureInfo")
            data.object { $0.member("token", unescaped: signed.jws) }
        }
        return Base64.standard.encode(data.bytes)
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            signed.writeMembers(to: &writer)
            writer.member("advancedCommerceData", unescaped: advancedCommerceData)
        }
    }
}
