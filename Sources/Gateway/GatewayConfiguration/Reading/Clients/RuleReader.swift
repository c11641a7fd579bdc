import SigningKit

struct RuleReader {
    typealias Pattern = GatewayConfiguration.Pattern

    let findings: Findings

    func read(_ node: SettingNode) -> GatewayConfiguration.Rule? {
        let keys = GatewayConfiguration.Rule.reference.map(\.path)
        guard var mapping = MappingReader(node, keys: keys, findings) else { return nil }
        let appsWanted = "a list of bundle IDs, such as [com.example.app], or of patterns, such as [\"*\"]"
        let apps = mapping.required("apps", appsWanted).flatMap { patterns($0, of: "app") }
        let choices = findings.plugins.features.joined(separator: ", ")
        let featuresWanted = "a list of features, of \(choices), or of patterns, such as [\"*\"]"
        let features = mapping.required("features", featuresWanted).flatMap { patterns($0, of: "feature") }
        features?.forEach(checkFeature)
        let products = mapping.optional("products").flatMap { patterns($0, of: "product") }
        let offers = mapping.optional("offers").flatMap { patterns($0, of: "offer") }
        let keyIDs = mapping.optional("keyIds").flatMap { patterns($0, of: "key ID") }
        guard let apps, let features else { return nil }
        return GatewayConfiguration.Rule(
            apps: apps, features: features, products: products ?? [], offers: offers ?? [], keyIDs: keyIDs ?? [],
            origin: node.origin)
    }

    private func patterns(_ node: SettingNode, of what: String) -> [Pattern]? {
        var taken = UniqueValues<ExactText>()
        return node.list(of: what, findings)?.compactMap { node in
            guard let text = node.identifier(findings),
                taken.note(ExactText(text), "the \(what) \(Excerpt.quoted(text))", at: node.origin, findings)
            else { return nil }
            return Pattern(text: text, origin: node.origin)
        }
    }

    private func checkFeature(_ pattern: Pattern) {
        guard !pattern.hasWildcard, !findings.plugins.features.contains(pattern.text) else { return }
        let sentence = SettingNode.unknown(pattern.text, among: findings.plugins.features)
        findings.fault(.notAllowed(sentence), at: pattern.origin)
    }
}
