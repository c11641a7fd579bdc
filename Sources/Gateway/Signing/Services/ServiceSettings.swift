public import SigningKit

/// A service of Apple for which the gateway makes tokens.
public struct ServiceSettings: Sendable {
    /// Unique; in the path of a request.
    public var name: String
    /// The ID of the profile.
    public var profile: String
    public var identifiers: [ServiceIdentifier: String]
    /// For a request that chooses nothing.
    public var choices: ServiceTokenChoices
    /// In seconds, and the most that a request may choose; nil for the standard of the profile.
    public var lifetime: Int64?

    public init(
        name: String, profile: String, identifiers: [ServiceIdentifier: String] = [:],
        choices: ServiceTokenChoices = ServiceTokenChoices(), lifetime: Int64? = nil
    ) {
        self.name = name
        self.profile = profile
        self.identifiers = identifiers
        self.choices = choices
        self.lifetime = lifetime
    }

    /// The service in audit entries and in the register of keys: `services/` and its name. No bundle ID has a slash.
    public var path: String { "services/\(name)" }
}
