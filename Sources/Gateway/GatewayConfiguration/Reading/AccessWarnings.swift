import Signing
import SigningKit

/// Warns about settings of clients, keys and administrators without effect or with an unexpected one. The configuration
/// must have no faults.
struct AccessWarnings {
    let configuration: GatewayConfiguration
    /// The file, for the origins of the clients' settings.
    let root: SettingNode
    let now: Timestamp
    let findings: Findings

    func look() {
        let clients = Array(zip(configuration.clients, root.elements(of: "clients")))
        for (client, node) in clients {
            zip(client.tokens, node.elements(of: "tokens")).forEach(checkExpiry)
            checkProofs(node)
        }
        checkRules(clients)
        if let anonymous = configuration.given?.origin(of: "anonymous"), configuration.allowsAnonymous,
            !configuration.clients.isEmpty
        {
            findings.warn(
                "allows every caller everything, so the rules of clients have no effect; check it", at: anonymous)
        }
        checkCosigner()
        for account in configuration.accounts where account.hasDualControl {
            checkAdministrators(countsOperator: account.countsOperator, at: account.origin)
        }
        for service in configuration.services where service.hasDualControl && service.keysOf == nil {
            checkAdministrators(countsOperator: service.countsOperator, at: service.origin)
        }
    }

    private func checkExpiry(_ token: TokenSettings, _ node: SettingNode) {
        guard let expires = token.expires, expires <= now else { return }
        findings.warn(
            "expired at \(expires.configurationText) and is no longer accepted; remove it", at: node.origin)
    }

    private func checkProofs(_ client: SettingNode) {
        let listeners = configuration.listeners.filter { $0.role != .metrics }
        if let first = client.elements(of: "certificates").first, !listeners.contains(where: \.asksForCertificates) {
            findings.warn(
                "has no effect, as no listener asks for certificates; set clientCertificates in its tls, or remove it",
                at: first.origin)
        }
        if let first = client.elements(of: "uids").first, !listeners.contains(where: \.address.isUnixSocket) {
            findings.warn(
                "has no effect, because no listener is a Unix socket; listen on one, or remove it", at: first.origin)
        }
    }

    private func checkRules(_ clients: [(ClientSettings, SettingNode)]) {
        let apps = NameIndex(configuration.accounts.flatMap(\.apps)) { $0.bundleID }
        let keys = NameIndex(configuration.keys) { $0.keyID }
        let rules = clients.flatMap { client, node in
            zip(client.rules, node.elements(of: "allow")).map { (node, $0, $1) }
        }
        var comparisons = 0
        for (client, rule, node) in rules {
            comparisons += rule.apps.count { !$0.isExact } * apps.things.count
            comparisons += rule.keyIDs.count { !$0.isExact } * keys.things.count
            guard comparisons <= Self.mostComparisons else {
                let sentence =
                    "has so many patterns that they are not compared with the names under accounts; give exact names"
                return findings.warn(sentence, at: client.origin)
            }
            checkRule(rule, node, apps, keys)
        }
    }

    /// The maximum number of comparisons of a pattern with a name. More take seconds.
    private static let mostComparisons = 500_000

    private func checkRule(
        _ rule: RuleSettings, _ node: SettingNode, _ apps: NameIndex<AppSettings>,
        _ keys: NameIndex<GatewayConfiguration.Key>
    ) {
        var known: Set<String> = []
        var isForNoApp = true
        for (pattern, node) in zip(rule.apps, node.elements(of: "apps")) {
            let matching = apps.matching(pattern)
            if matching.isEmpty { warn(pattern, node, "app under accounts", among: apps.names) }
            isForNoApp = isForNoApp && matching.isEmpty
            for app in matching { known.formUnion(app.features) }
        }
        for (pattern, node) in zip(rule.keyIDs, node.elements(of: "keyIds")) where keys.matching(pattern).isEmpty {
            warn(pattern, node, "key under accounts", among: keys.names)
        }
        let services = configuration.services.map(\.name)
        for (pattern, node) in zip(rule.services, node.elements(of: "services"))
        where !services.contains(where: pattern.matches) {
            warn(pattern, node, "name under services", among: services)
        }
        // A rule without existing apps gets no further warnings.
        guard !isForNoApp else { return }
        let features = known.sorted()
        for (pattern, node) in zip(rule.features, node.elements(of: "features"))
        where !features.contains(where: pattern.matches) {
            warn(pattern, node, "feature of the apps that this rule is for", among: features)
        }
    }

    private func warn(_ pattern: Pattern, _ node: SettingNode, _ what: String, among known: [String]) {
        // A comparison with a thousand apps is slow, and so many warnings have another cause.
        let isMistake = pattern.isExact && !findings.hasManyWarnings
        let nearest = isMistake ? Suggestion.nearest(to: pattern.text, among: known) : nil
        let cure = nearest.map { "perhaps \($0) is meant" } ?? "check it"
        findings.warn("matches no \(what); \(cure)", at: node.origin)
    }
}

extension AccessWarnings {
    /// A key for offers should sign nothing else, because one kind of signature could be presented as the other.
    private func checkCosigner() {
        guard let cosigner = configuration.audit?.checkpoints.cosigner else { return }
        let same = configuration.keys.first { key in
            key.addresses.contains { address in
                address.locator == cosigner.address.locator
                    && address.selector.uri == cosigner.address.selector.uri
            }
        }
        guard let same else { return }
        findings.warn(
            "is also the location of a key for offers (\(same.origin)); give another key", at: cosigner.origin)
    }

    /// - Parameter origin: of the account or the service with dual control.
    private func checkAdministrators(countsOperator: Bool, at origin: ConfigurationOrigin) {
        let administrators = administrators(countsOperator: countsOperator)
        guard administrators.count < 2 else { return }
        let found = administrators.first.map { "there is only \($0)" } ?? "there is none"
        let listener = configuration.adminListener == nil ? "listeners.admin, and " : ""
        findings.warn(
            "requires two administrators, but \(found), so no proposal could be approved; give \(listener)another client "
                + "administrator: true", at: origin.child("dualControl"))
    }

    /// The names of the administrators. On a Unix socket, root and the gateway's own user are both `operator`. A client
    /// with root's uid is the same person as `operator`.
    private func administrators(countsOperator: Bool) -> [String] {
        // Without an admin listener, only `operator` can act: on the command line, while the gateway does not run.
        guard let listener = configuration.adminListener else { return countsOperator ? ["operator"] : [] }
        let clients = configuration.clients.filter(\.isAdministrator)
        let hasOperator =
            countsOperator && listener.address.isUnixSocket
            && !clients.contains { client in client.uids.contains(0) }
        return clients.map(\.name) + (hasOperator ? ["operator"] : [])
    }
}

/// Apps or keys, with a lookup by the exact bytes of their names.
private struct NameIndex<Thing> {
    let things: [Thing]
    let names: [String]
    private let byName: [ExactText: Thing]

    init(_ things: [Thing], name: (Thing) -> String) {
        self.things = things
        names = things.map(name)
        byName = Dictionary(zip(names.map(ExactText.init), things)) { first, _ in first }
    }

    func matching(_ pattern: Pattern) -> [Thing] {
        guard !pattern.isExact else { return byName[ExactText(pattern.text)].map { [$0] } ?? [] }
        return zip(names, things).filter { pattern.matches($0.0) }.map(\.1)
    }
}

extension GatewayConfiguration.Listener {
    var asksForCertificates: Bool {
        guard let tls else { return false }
        return tls.clientCertificates != .notAsked
    }
}
