/// Describes a feature for listing, routing and documentation.
public struct FeatureDescriptor: Sendable {
    /// The ID in paths and configurations: for a JWS its audience, such as `promotional-offer`.
    public let id: String
    public let summary: String
    public let fields: [FeatureField]

    public init(id: String, summary: String, fields: [FeatureField]) {
        self.id = id
        self.summary = summary
        self.fields = fields
    }
}

/// One member of a feature's request.
public struct FeatureField: Sendable {
    public enum Kind: Sendable {
        case string, boolean, object
    }

    /// The name in Apple's spelling, such as `productId`.
    public let name: String
    public let kind: Kind
    public let isRequired: Bool
    public let summary: String

    public init(_ name: String, _ kind: Kind, isRequired: Bool, _ summary: String) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.summary = summary
    }
}
