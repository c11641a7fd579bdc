import SigningKit

/// What can be used in the clients, but does nothing or other than it seems. Asked of a configuration without faults.
struct AccessWarnings {
    typealias Pattern = GatewayConfiguration.Pattern

    private let configuration: GatewayConfiguration
    private let now: Timestamp
    private let findings: Findings

    init(_ configuration: GatewayConfiguration, now: Timestamp, _ findings: Findings) {
        self.configuration = configuration
        self.now = now
        self.findings = findings
    }

    func look(_ draft: ConfigurationDraft) {
        for client in configuration.clients {
            client.tokens.forEach(checkExpiry)
            checkProofs(client)
            client.allow.forEach(checkRule)
        }
        if let anonymous = draft.anonymous, configuration.allowsAnonymous, !configuration.clients.isEmpty {
            let sentence =
                "lets everybody have everything, so that what clients are allowed holds nobody back; check it"
            findings.warn(sentence, at: anonymous.origin)
        }
    }

    private func checkExpiry(_ token: GatewayConfiguration.ClientToken) {
        guard let expires = token.expires, expires <= now else { return }
        let sentence = "expired at \(RFC3339.text(expires)) and is not taken any more; remove it"
        findings.warn(sentence, at: token.origin)
    }

    private func checkProofs(_ client: GatewayConfiguration.Client) {
        let doors = configuration.listeners.filter { $0.role != .metrics }
        if let first = client.certificates.first, !doors.contains(where: \.asksForCertificates) {
            let sentence =
                "proves nothing, because no listener asks for certificates; set clientCertificates in its tls, or remove it"
            findings.warn(sentence, at: first.origin)
        }
        if let first = client.uids.first, !doors.contains(where: \.address.isUnixSocket) {
            let sentence = "proves nothing, because no listener is a Unix socket; listen on one, or remove it"
            findings.warn(sentence, at: first.origin)
        }
    }

    private func checkRule(_ rule: GatewayConfiguration.Rule) {
        let apps = configuration.accounts.flatMap(\.apps)
        for pattern in rule.apps where !apps.contains(where: { pattern.matches($0.bundleID) }) {
            warn(pattern, "app under accounts", among: apps.map(\.bundleID))
        }
        let keyIDs = configuration.accounts.flatMap(\.keys).map(\.keyID)
        for pattern in rule.keyIDs where !keyIDs.contains(where: pattern.matches) {
            warn(pattern, "key under accounts", among: keyIDs)
        }
        let meant = apps.filter { app in rule.apps.contains { $0.matches(app.bundleID) } }
        let features = Set(meant.flatMap(\.features)).sorted()
        // Of apps that are not there nothing more is said.
        guard !meant.isEmpty else { return }
        for pattern in rule.features where !features.contains(where: pattern.matches) {
            warn(pattern, "feature of the apps that this rule is for", among: features)
        }
    }

    private func warn(_ pattern: Pattern, _ what: String, among known: [String]) {
        // A comparison with a thousand apps takes its time; whoever has so many warnings has another mistake.
        let isSlip = !pattern.hasWildcard && findings.warningCount < ConfigurationError.listed
        let nearest = isSlip ? Suggestion.nearest(to: pattern.text, among: known) : nil
        let cure = nearest.map { "perhaps \($0) is meant" } ?? "check it"
        findings.warn("matches no \(what); \(cure)", at: pattern.origin)
    }
}

extension GatewayConfiguration.Listener {
    var asksForCertificates: Bool {
        guard let tls else { return false }
        return tls.clientCertificates != .notAsked
    }
}
