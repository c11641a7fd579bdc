public import StrictJSON

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
    /// Whether only a rule that names the feature grants it, and no pattern with `*`: what it signs gives more than an
    /// offer.
    public let isGrantedByName: Bool

    public init(
        id: String, name: String, summary: String, description: String, fields: [FeatureField], answer: [FeatureField],
        claims: [FeatureField]? = nil, openAPI: String = "", isGrantedByName: Bool = false
    ) {
        self.id = id
        self.name = name
        self.summary = summary
        self.description = description
        self.fields = fields
        self.answer = answer
        self.claims = claims
        self.openAPI = openAPI
        self.isGrantedByName = isGrantedByName
    }
}

/// A member of a feature's request or answer, or a claim of its JWS.
public struct FeatureField: Sendable {
    /// The kind of value, with its limits.
    public enum Kind: Sendable {
        /// A string of 1 to 255 visible characters (`TextRule.identifier`).
        case identifier
        /// A string of 0 to 255 bytes (`TextRule.userName`).
        case userName
        /// A UUID in either case.
        case uuid
        /// The ID of a key.
        case keyID
        /// A version 4 UUID in lower case.
        case nonce
        /// A JWS in compact serialization.
        case jws
        /// Any other string.
        case string
        /// Bytes in padded Base64 (RFC 4648 §4).
        case base64
        /// The padded Base64 of a JSON object that has these members.
        case encodedObject(members: [String])
        case boolean
        /// A whole number from 0 to 2⁶³ - 1.
        case integer
        case object

        public var json: JSONKind {
            switch self {
            case .identifier, .userName, .uuid, .keyID, .nonce, .jws, .string, .base64, .encodedObject: .string
            case .boolean: .boolean
            case .integer: .number
            case .object: .object
            }
        }
    }

    /// The name in Apple's spelling, such as `productId`.
    public let name: String
    public let kind: Kind
    public let isRequired: Bool
    /// In Markdown, with a full stop.
    public let summary: String
    /// A value as JSON. The example of a request has the members that have an example.
    public let example: String?
    /// Names that programs write for this claim by mistake, in lower case without `_` and `-`.
    public let synonyms: [String]

    public init(
        _ name: String, _ kind: Kind, isRequired: Bool = true, _ summary: String, example: String? = nil,
        synonyms: [String] = []
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.summary = summary
        self.example = example
        self.synonyms = synonyms
    }
}

/// Texts for the help of commands.
extension Sequence<FeatureDescriptor> {
    /// Each feature with the members of its request, one per line.
    public var helpText: String {
        map { feature in
            let members = feature.fields.map { "    \($0.name)\($0.isRequired ? "" : " (optional)")" }
            return (["  \(feature.id)"] + members).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// The IDs of the features that make a JWS.
    public var audiences: [String] { filter { $0.claims != nil }.map(\.id) }
}
