import AppStoreJWS
import Encodings
public import SigningKit
import StrictJSON

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
        id: AppStoreAudience.advancedCommerce.rawValue,
        summary: "The JWS of an Advanced Commerce API in-app request",
        fields: [
            FeatureField("request", .object, isRequired: false, "The request; its bytes are signed as they come"),
            FeatureField(
                "requestData", .string, isRequired: false,
                "The request's bytes in padded Base64; exactly one of request and requestData is required"),
        ]
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
        let signingInput = AppStoreJWS.signingInput(.advancedCommerce, for: grant) { claims in
            claims.member("request", unescaped: request)
        }
        return Draft(signingInput: signingInput) { AdvancedCommerceAnswer(SignedJWS(signingInput, $0, grant)) }
    }

    private func check(_ request: JSONValue) throws(JSONReadError) {
        switch validation {
        case .full: try Operation.check(request)
        case .envelope: try Envelope.check(request)
        }
    }
}
