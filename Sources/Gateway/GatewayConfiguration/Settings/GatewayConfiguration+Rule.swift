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

        static let reference = [
            ("apps", "required", "requests for an app with such a bundle ID"),
            ("features", "required", "requests for such a feature"),
            ("products", "no product", "requests that name only such products"),
            ("offers", "no offer", "requests that name only such offers"),
            ("keyIds", "no key", "requests that name only such keys (only the compatibility call can name one)"),
        ].map { SettingReference(path: $0, values: "a list of patterns", standard: $1, summary: $2) }

        /// For the differences of a reload. The contents of a rule are its identity, because the order of rules has no
        /// meaning.
        func element(at index: Int) -> SettingTree.Member {
            let parts = [("products", products), ("offers", offers), ("keyIds", keyIDs)].filter { !$0.1.isEmpty }
            let members = ([("apps", apps), ("features", features)] + parts).map { name, patterns in
                SettingTree.Member.set(name, patterns.map(\.text))
            }
            return .element(index.description, identity: SettingTree.members(members).shown, members)
        }
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
