import Encodings
import SigningKit

/// Reads the accounts, and detects IDs that an earlier account already has.
struct AccountReader {
    private let findings: Findings
    private var keys: KeyReader
    private var bundleIDs = UniqueValues<ExactText>()
    private var issuerIDs: [String: ConfigurationOrigin] = [:]

    init(_ findings: Findings) {
        self.findings = findings
        keys = KeyReader(findings)
    }

    /// Nil, with a fault in `findings`, if the account cannot be used.
    mutating func read(_ node: SettingNode) -> GatewayConfiguration.Account? {
        typealias Account = GatewayConfiguration.Account
        guard var mapping = MappingReader(node, Account.settings, findings) else { return nil }
        var account = Account(origin: node.origin)
        mapping.read(Account.settings, into: &account)
        checkIssuerID(of: account, mapping.given)
        let apps = mapping.optional("apps")?.list(of: "app", findings)?.compactMap { app($0) }
        let keys = mapping.optional("keys")?.list(of: "key", findings)?.map { self.keys.read($0) }
        let isKnown = checkActiveKey(of: account, mapping.given, keys?.map(\.keyID))
        guard mapping.given.faulty.isEmpty, isKnown, let apps, let keys else { return nil }
        account.apps = apps
        account.keys = keys.compactMap(\.key)
        return account
    }

    private mutating func checkIssuerID(of account: GatewayConfiguration.Account, _ given: GivenSettings) {
        guard let origin = given.origin(of: "issuerId"), !given.faulty.contains("issuerId") else { return }
        if !UUIDText.isUUID(account.issuerID) {
            findings.warn("is not a UUID, but issuer IDs in App Store Connect are; check it", at: origin)
        }
        if let first = issuerIDs[account.issuerID] {
            let sentence = "is also the issuer ID of another account (\(first)), maybe by mistake; check it"
            findings.warn(sentence, at: origin)
        }
        issuerIDs[account.issuerID] = issuerIDs[account.issuerID] ?? origin
    }

    private mutating func app(_ node: SettingNode) -> GatewayConfiguration.App? {
        typealias App = GatewayConfiguration.App
        guard var mapping = MappingReader(node, App.settings, findings) else { return nil }
        var app = App(origin: node.origin)
        mapping.read(App.settings, into: &app)
        let choices = findings.plugins.features.joined(separator: ", ")
        let features = mapping.required("features", "a list of features, of \(choices)")?
            .list(of: "feature", findings).map { self.features($0) }
        guard !mapping.given.faulty.contains("bundleId"), let origin = mapping.given.origin(of: "bundleId"),
            noteBundleID(app.bundleID, origin), let features
        else { return nil }
        app.features = features
        return app
    }

    private mutating func noteBundleID(_ bundleID: String, _ origin: ConfigurationOrigin) -> Bool {
        let what = "the bundle ID \(Excerpt.quoted(bundleID))"
        guard bundleIDs.note(ExactText(bundleID), what, at: origin, findings) else { return false }
        if !IdentifierShape.isBundleID(bundleID) {
            findings.warn("has characters other than letters, digits, hyphens and periods; check it", at: origin)
        }
        return true
    }

    private func features(_ nodes: [SettingNode]) -> [String] {
        var taken = UniqueValues<String>()
        return nodes.compactMap { node in
            guard let feature = node.choice(of: findings.plugins.features, findings) else { return nil }
            let what = "the feature \(Excerpt.quoted(feature))"
            return taken.note(feature, what, at: node.origin, findings) ? feature : nil
        }
    }

    /// - Parameter keyIDs: The IDs of the account's keys. An ID or the whole list is nil if it could not be read.
    private func checkActiveKey(
        of account: GatewayConfiguration.Account, _ given: GivenSettings, _ keyIDs: [String?]?
    ) -> Bool {
        guard let origin = given.origin(of: "activeKey"), !given.faulty.contains("activeKey"),
            let keyIDs, !keyIDs.contains(nil)
        else { return true }
        let known = keyIDs.compactMap(\.self)
        guard !known.containsExactly(account.activeKeyID) else { return true }
        let nearest = Suggestion.nearest(to: account.activeKeyID, among: known)
        findings.fault(
            .notAllowed(
                "is \(Excerpt.quoted(account.activeKeyID)), which is not the keyId of any key of this account; "
                    + (nearest.map { "did you mean \($0)? The" } ?? "the") + " keys are "
                    + Suggestion.list(known.map { Excerpt.quoted($0) })),
            at: origin)
        return false
    }
}
