import SigningKit

/// Checks that the clients' identities and the issuers refer to each other.
struct IssuerReferences {
    let configuration: GatewayConfiguration
    /// The file, for the origins of the clients' settings.
    let root: SettingNode
    let findings: Findings

    func check() {
        let issuers = configuration.issuers
        // An issuer with a fault may have no name here.
        guard root.elements(of: "issuers").count == issuers.count, !issuers.contains(where: \.name.isEmpty) else {
            return
        }
        let names = issuers.map(\.name)
        let identities = root.elements(of: "clients").flatMap { $0.elements(of: "identities") }
        var used: Set<String> = []
        for identity in identities {
            guard let node = identity.member("issuer"), case .scalar(let name, _) = node.content else { continue }
            used.insert(name)
            guard !names.containsExactly(name) else { continue }
            let cure =
                names.isEmpty
                ? "give it under issuers"
                : Suggestion.choices("choices", for: name, among: names)
            findings.fault("is \(Excerpt.quoted(name)), which is not the name of an issuer; \(cure)", at: node.origin)
        }
        for issuer in issuers where !used.contains(issuer.name) {
            findings.warn(
                "has no effect, because no client has an identity of this issuer; check it", at: issuer.origin)
        }
        for identity in identities {
            guard let node = identity.member("subject"), case .scalar(let text, _) = node.content,
                Pattern(text).isEverything
            else { continue }
            findings.warn(
                "matches every subject of the issuer, so all its workloads are this client; give a narrower pattern",
                at: node.origin)
        }
    }
}
