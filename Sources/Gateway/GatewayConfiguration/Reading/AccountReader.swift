import Encodings
import SigningKit

/// Reads the accounts, and detects IDs that an earlier account already has.
struct AccountReader {
    /// The allowed values of `proposalLifetime`, in seconds.
    private static let proposalLifetimes = 60...2_592_000
    private static let standardProposalLifetime = Duration.seconds(86_400)
    private static let members = ["issuerId", "apps", "keys", "activeKey", "dualControl", "proposalLifetime"]

    private let vocabulary: PluginNames
    private let findings: Findings
    private var keys: KeyReader
    private var bundleIDs: [ExactText: ConfigurationOrigin] = [:]
    private var issuerIDs: [String: ConfigurationOrigin] = [:]

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
        keys = KeyReader(vocabulary, findings)
    }

    /// Nil, with a fault in `findings`, if the account cannot be used.
    mutating func read(_ node: SettingNode) -> GatewayConfiguration.Account? {
        guard let mapping = MappingReader(node, keys: Self.members, findings) else { return nil }
        let issuerID = issuerID(in: mapping)
        let apps = mapping.required("apps", "a list with the bundleId and features of each app")?
            .list(of: "app", findings)?.compactMap { app($0) }
        let keyNodes = mapping.required("keys", "a list with the keyId and uri of each key")?.list(of: "key", findings)
        let keys = keyNodes?.map { self.keys.read($0) }
        let activeKeyID = activeKeyID(in: mapping, keys?.map(\.keyID))
        let dualControl =
            mapping.optional("dualControl").map { readDualControl($0) }
            ?? (isWanted: false, countsOperator: true)
        let proposalLifetime =
            mapping.optional("proposalLifetime").map { $0.seconds(in: Self.proposalLifetimes, findings) }
            ?? Self.standardProposalLifetime
        guard let issuerID, let apps, let keys, let activeKeyID, let dualControl, let proposalLifetime else {
            return nil
        }
        return GatewayConfiguration.Account(
            issuerID: issuerID, apps: apps, keys: keys.compactMap(\.key), activeKeyID: activeKeyID,
            hasDualControl: dualControl.isWanted, countsOperator: dualControl.countsOperator,
            proposalLifetime: proposalLifetime, origin: node.origin)
    }

    /// Reads `true`, `false`, or a mapping for two administrators that says whether `operator` may be one of them.
    private func readDualControl(_ node: SettingNode) -> (isWanted: Bool, countsOperator: Bool)? {
        guard case .mapping = node.content else {
            return node.boolean(findings).map { (isWanted: $0, countsOperator: true) }
        }
        guard let mapping = MappingReader(node, keys: ["operator"], findings) else { return nil }
        return mapping.required("operator", "true or false: are root and the gateway's own user an administrator")?
            .boolean(findings).map { (isWanted: true, countsOperator: $0) }
    }

    private mutating func issuerID(in mapping: MappingReader) -> String? {
        let what = "the account's issuer ID in App Store Connect, such as 57246542-96fe-1a63-e053-0824d011072a"
        guard let node = mapping.required("issuerId", what), let issuerID = node.assignedIdentifier(findings) else {
            return nil
        }
        if !UUIDText.isUUID(issuerID) {
            findings.warn("is not a UUID, but issuer IDs in App Store Connect are; check it", at: node.origin)
        }
        if let first = issuerIDs[issuerID] {
            let sentence = "is also the issuer ID of another account (\(first)), maybe by mistake; check it"
            findings.warn(sentence, at: node.origin)
        }
        issuerIDs[issuerID] = issuerIDs[issuerID] ?? node.origin
        return issuerID
    }

    private mutating func app(_ node: SettingNode) -> GatewayConfiguration.App? {
        guard let mapping = MappingReader(node, keys: ["bundleId", "features"], findings) else { return nil }
        let bundleID = bundleID(in: mapping)
        let choices = vocabulary.features.joined(separator: ", ")
        let features = mapping.required("features", "a list of features, of \(choices)")?
            .list(of: "feature", findings).map { self.features($0) }
        guard let bundleID, let features else { return nil }
        return GatewayConfiguration.App(bundleID: bundleID, features: features, origin: node.origin)
    }

    private mutating func bundleID(in mapping: MappingReader) -> String? {
        guard let node = mapping.required("bundleId", "the app's bundle ID, such as com.example.app"),
            let bundleID = node.identifier(findings)
        else { return nil }
        if let first = bundleIDs[ExactText(bundleID)] {
            let what = "the bundle ID \(Excerpt.quoted(bundleID))"
            findings.fault(.alreadyTaken(what: what, first: first), at: node.origin)
            return nil
        }
        bundleIDs[ExactText(bundleID)] = node.origin
        if !IdentifierShape.isBundleID(bundleID) {
            findings.warn("has characters other than letters, digits, hyphens and periods; check it", at: node.origin)
        }
        return bundleID
    }

    private func features(_ nodes: [SettingNode]) -> [String] {
        var taken: [String: ConfigurationOrigin] = [:]
        return nodes.compactMap { node in
            guard let feature = node.text(findings) else { return nil }
            if let first = taken[feature] {
                let what = "the feature \(Excerpt.quoted(feature))"
                findings.fault(.alreadyTaken(what: what, first: first), at: node.origin)
                return nil
            }
            guard vocabulary.features.containsExactly(feature) else {
                let sentence = SettingNode.unknown(feature, among: vocabulary.features)
                findings.fault(.notAllowed(sentence), at: node.origin)
                return nil
            }
            taken[feature] = node.origin
            return feature
        }
    }

    /// - Parameter keyIDs: The IDs of the account's keys. An ID or the whole list is nil if it could not be read.
    private func activeKeyID(in mapping: MappingReader, _ keyIDs: [String?]?) -> String? {
        guard let node = mapping.required("activeKey", "the keyId of the key that signs"),
            let keyID = node.assignedIdentifier(findings)
        else { return nil }
        guard let keyIDs, !keyIDs.contains(nil) else { return keyID }
        let known = keyIDs.compactMap(\.self)
        guard !known.containsExactly(keyID) else { return keyID }
        let suggestion = Suggestion.nearest(to: keyID, among: known).map { "did you mean \($0)? The" } ?? "the"
        findings.fault(
            .notAllowed(
                "is \(Excerpt.quoted(keyID)), which is not the keyId of any key of this account; \(suggestion) keys are "
                    + Suggestion.list(known.map { Excerpt.quoted($0) })),
            at: node.origin)
        return nil
    }
}
