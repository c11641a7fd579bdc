import SigningKit

extension GatewayConfiguration {
    /// A rule for a client. A request is allowed if everything that it names matches the same rule.
    public struct Rule: SettingSection {
        /// Bundle IDs; at least one.
        public internal(set) var apps: [Pattern] = []
        /// IDs of features; at least one.
        public internal(set) var features: [Pattern] = []
        /// The product IDs that a request may name. Empty: a request may name no product.
        public internal(set) var products: [Pattern] = []
        /// The same for offer IDs.
        public internal(set) var offers: [Pattern] = []
        /// The same for the key that a request names.
        public internal(set) var keyIDs: [Pattern] = []
        /// Shows the operator which line decided.
        public let origin: ConfigurationOrigin

        static let settings: [Setting<Self>] = [
            .patterns(
                "apps", \.apps, of: "app",
                missing: "a list of bundle IDs, such as [com.example.app], or of patterns, such as [\"*\"]",
                "requests for an app with such a bundle ID"),
            .patterns(
                "features", \.features, of: "feature",
                missing: "a list of features, of FEATURES, or of patterns, such as [\"*\"]",
                "requests for such a feature"),
            .patterns(
                "products", \.products, of: "product", standard: "no product",
                "requests that name only such products"),
            .patterns("offers", \.offers, of: "offer", standard: "no offer", "requests that name only such offers"),
            .patterns(
                "keyIds", \.keyIDs, of: "key ID", standard: "no key",
                "requests that name only such keys (only the compatibility call can name one)"),
        ]

        func finish(_ given: GivenSettings, _ findings: Findings) {
            let known = findings.plugins.features
            for pattern in features where !pattern.hasWildcard && !known.containsExactly(pattern.text) {
                findings.fault(
                    SettingKind<String>.unknown(pattern.text, among: known, findings).sentence, at: pattern.origin)
            }
        }

        /// For the differences of a reload. The contents of a rule are its identity, because the order of rules has no
        /// meaning.
        func element(at index: Int) -> SettingTree.Member {
            .element(index.description, identity: SettingTree.members(outline).shown, outline)
        }
    }

    /// A text in which each `*` matches any characters or none. It must match the whole value, including letter case.
    public struct Pattern: Sendable {
        public let text: String
        public let origin: ConfigurationOrigin

        var hasWildcard: Bool { text.utf8.contains(UInt8(ascii: "*")) }

        func matches(_ candidate: String) -> Bool { SigningKit.Pattern(text).matches(candidate) }
    }
}

extension GatewayConfiguration.Pattern: CustomStringConvertible {
    public var description: String { text }
}

extension Setting<GatewayConfiguration.Rule> {
    fileprivate static func patterns(
        _ name: String, _ field: Field<[GatewayConfiguration.Pattern]>, of what: String, missing: String? = nil,
        standard: String = "", _ summary: String
    ) -> Self {
        let identifier = SettingKind<String>.identifier
        let pattern = SettingKind<GatewayConfiguration.Pattern>(
            values: "a pattern",
            read: { node, findings in
                identifier.read(node, findings).map { GatewayConfiguration.Pattern(text: $0, origin: node.origin) }
            },
            text: { $0.text })
        var row = list(
            name, field, of: what, pattern.once("the \(what)", inList: true), values: "a list of patterns",
            missing: missing, standard: standard, summary, outline: { .set(name, $0.map(\.text)) })
        let outline = row.outline
        row.outline = { $0[keyPath: field].isEmpty ? nil : outline($0) }
        return row
    }
}
