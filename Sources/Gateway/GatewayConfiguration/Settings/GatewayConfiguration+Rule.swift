import SigningKit

extension GatewayConfiguration {
    /// A rule for a client. A request is allowed if everything that it names matches the same rule.
    public struct Rule: Sendable {
        /// Bundle IDs; at least one.
        public let apps: [Pattern]
        /// IDs of features; at least one.
        public let features: [Pattern]
        /// The product IDs that a request may name. Empty: a request may name no product.
        public let products: [Pattern]
        /// The same for offer IDs.
        public let offers: [Pattern]
        /// The same for the key that a request names.
        public let keyIDs: [Pattern]
        /// Shows the operator which line decided.
        public let origin: ConfigurationOrigin
    }

    /// A text in which each `*` matches any characters or none. It must match the whole value, including letter case.
    public struct Pattern: Sendable {
        public let text: String
        public let origin: ConfigurationOrigin

        var hasWildcard: Bool { text.utf8.contains(UInt8(ascii: "*")) }
    }
}

extension GatewayConfiguration.Pattern: CustomStringConvertible {
    public var description: String { text }
}

extension GatewayConfiguration.Pattern {
    func matches(_ candidate: String) -> Bool { SigningKit.Pattern(text).matches(candidate) }
}
