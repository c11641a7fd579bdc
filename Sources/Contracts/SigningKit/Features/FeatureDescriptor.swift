/// Describes a feature. The OpenAPI document, the command line's help and `verify --explain` are derived from it.
public struct FeatureDescriptor: Sendable {
    /// The ID in paths and configurations: for a JWS its audience, such as `promotional-offer`.
    public let id: String
    /// The beginning of the feature's names in the OpenAPI document, such as `PromotionalOffer`.
    public let name: String
    public let summary: String
    /// The purpose of the signature, in Markdown.
    public let description: String
    /// The members of a request.
    public let fields: [FeatureField]
    /// The members of an answer.
    public let answer: [FeatureField]
    /// The claims of the JWS in addition to the base claims. Nil if the signature is not a JWS.
    public let claims: [FeatureField]?
    /// What the fields cannot express in the OpenAPI document: YAML with `operationId`, `examples` of a request, and
    /// `schemas`. A schema `<Name>Request` replaces the one that is derived from the fields.
    public let openAPI: String

    public init(
        id: String, name: String, summary: String, description: String, fields: [FeatureField], answer: [FeatureField],
        claims: [FeatureField]? = nil, openAPI: String = ""
    ) {
        self.id = id
        self.name = name
        self.summary = summary
        self.description = description
        self.fields = fields
        self.answer = answer
        self.claims = claims
        self.openAPI = openAPI
    }
}
