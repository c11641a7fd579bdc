public import StrictJSON

/// A header or claim of a service token as Apple documents it.
public struct ServiceTokenMember: Sendable {
    public let name: String
    public let kind: JSONKind
    /// The only value that Apple accepts; nil for any.
    public let fixed: String?
    /// The identifier that the value is.
    public let identifier: ServiceIdentifier?
    public let isRequired: Bool

    public init(
        _ name: String, _ kind: JSONKind, fixed: String? = nil, identifier: ServiceIdentifier? = nil,
        isRequired: Bool = true
    ) {
        self.name = name
        self.kind = kind
        self.fixed = fixed
        self.identifier = identifier
        self.isRequired = isRequired
    }
}
