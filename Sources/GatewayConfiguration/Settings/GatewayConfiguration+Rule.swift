import SigningKit

extension GatewayConfiguration {
    /// Something that a client may have: a request is allowed when everything that it names matches this one rule.
    public struct Rule: Sendable {
        /// Bundle IDs; at least one.
        public let apps: [Pattern]
        /// IDs of features; at least one.
        public let features: [Pattern]
        /// Of the product IDs that a request names; without any, no product may be named.
        public let products: [Pattern]
        /// The same for offer IDs.
        public let offers: [Pattern]
        /// The same for the key that a request names.
        public let keyIDs: [Pattern]
        /// For people who ask which line decided.
        public let origin: ConfigurationOrigin
    }

    /// A text in which each `*` stands for any run of characters, also for none. It must match from the first to the last
    /// character; upper and lower case are different.
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
