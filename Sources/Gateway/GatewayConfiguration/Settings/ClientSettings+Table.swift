public import Signing
import SigningKit

/// The table of a client's settings. Each credential identifies one client, so it may occur only once in the file.
extension ClientSettings: SettingSection {
    init(_ origin: ConfigurationOrigin) {
        self.init(name: "", origin: "\(origin)")
    }

    static let settings: [Setting<Self>] = [
        .value(
            "name", \.name, .clientName.once("the client name"),
            missing: "the client's name in logs and metrics, such as shop",
            "for logs and metrics; the first character is a letter or a digit; unique, and not `anonymous`, `operator` "
                + "or `gateway`"
        ).shown { _ in nil },
        .value(
            "administrator", \.isAdministrator, .boolean,
            "whether the client may use the admin listener. On its Unix socket, root and the gateway's own user may use "
                + "it without being clients"
        ).shown { $0.isAdministrator ? .setting("administrator", "true") : nil },
        .list(
            "tokens", \.tokens, of: "token", .section { _ in TokenSettings() }, "bearer tokens, see below",
            members: TokenSettings.reference(of: TokenSettings()),
            outline: {
                .group("tokens", $0.map { .element($0.name, identity: $0.digest.description, $0.outline) })
            }),
        .list(
            "certificates", \.certificates, of: "certificate", .certificate, "TLS client certificates, see below",
            members: CertificateSection.reference(of: CertificateSection()),
            outline: { .group("certificates", $0.map { .element($0.description, []) }) }),
        .list(
            "identities", \.identities, of: "identity", .identity.once("the identity"), "JWTs of an issuer, see below",
            members: IdentitySettings.reference(of: IdentitySettings()),
            outline: { .group("identities", $0.map { .element($0.description, []) }) }),
        .list(
            "uids", \.uids, of: "uid", .uid.once("the uid") { $0 },
            values: "a list of \(SettingKind<UInt32>.uid.values)",
            "users of processes on a Unix socket",
            outline: { .group("uids", $0.map { .element($0.description, []) }) }),
        .list(
            "allow", \.rules, of: "rule", .section { RuleSettings($0) }, standard: "nothing is allowed",
            "the rules, see [below](#clientsallow)", members: RuleSettings.reference(of: RuleSettings(.unknown)),
            outline: { .group("allow", $0.enumerated().map { $1.element(at: $0) }) }),
        .section("rate", optional: \.rate) { _ in RateSettings(perSecond: 0, burst: 0) },
        .optional(
            "dailyQuota", \.dailyQuota, .integer(1...1_000_000_000), standard: "no limit",
            "requests in a day (UTC)"),
    ]

    /// Checks which settings are present, even if invalid, so that one mistake is one fault.
    func finish(_ given: GivenSettings, _ findings: Findings) {
        if !["tokens", "certificates", "identities", "uids"].contains(where: given.isPresentOrMisspelt) {
            findings.fault("has no credentials; give it tokens, certificates, identities or uids", at: given.origin)
        }
        let mayAdministrate = isAdministrator || given.faulty.contains("administrator")
        if !given.isPresentOrMisspelt("allow"), !mayAdministrate {
            findings.warn(
                "may do nothing, because it has no allow and is not an administrator; give it allow, or remove it",
                at: given.origin)
        }
    }
}

extension TokenSettings: SettingSection {
    fileprivate init() {
        self.init(digest: Digest256(of: ""))
    }

    static let settings: [Setting<Self>] = [
        .value(
            "sha256", \.digest, .tokenDigest.once("the token digest") { $0.prefix(8) + "…" },
            missing: "the 64 hexadecimal digits of the token's SHA-256, which privyseal clients mint shows",
            "the SHA-256 of the token's whole text, as `privyseal clients mint` prints it"
        ).shown { _ in nil },
        .optional(
            "expires", \.expires, .time, standard: "never",
            "when the token stops being valid, such as `2027-01-01T00:00:00Z`"),
    ]

    /// The first eight hexadecimal digits of the digest, to distinguish tokens.
    public var name: String { String(digest.description.prefix(8)) }
}

extension CertificateSettings: CustomStringConvertible {
    /// `sha256:…`, `dnsName:…` or `uri:…`.
    public var description: String {
        switch self {
        case .fingerprint(let digest): "sha256:\(digest)"
        case .dnsName(let name): "dnsName:" + name
        case .uri(let uri): "uri:" + uri
        }
    }
}

/// The mapping of which one member describes a certificate.
private struct CertificateSection: SettingSection {
    var claim = CertificateSettings.uri("")

    static let settings: [Setting<Self>] = [
        .value(
            "fingerprint", \.claim, .fingerprint.once("the certificate"), standard: "none",
            "the SHA-256 of the certificate's SubjectPublicKeyInfo in DER"),
        .value(
            "dnsName", \.claim, .dnsName.once("the certificate"), standard: "none",
            "one of the certificate's subject alternative names; case is ignored"),
        .value(
            "uri", \.claim, .uri.once("the certificate"), standard: "none",
            "one of the certificate's subject alternative names, such as a SPIFFE ID; compared exactly"),
    ]

    func finish(_ given: GivenSettings, _ findings: Findings) {
        let count = Self.settings.count { given.isPresentOrMisspelt($0.name) }
        guard count != 1 else { return }
        let beginning = count == 0 ? "does not identify a certificate" : "identifies a certificate in several ways"
        findings.fault(
            "\(beginning); give exactly one of fingerprint, dnsName and uri in each element of the list",
            at: given.origin)
    }
}

extension IdentitySettings: SettingSection {
    fileprivate init() {
        self.init(issuer: "", subject: "")
    }

    static let settings: [Setting<Self>] = [
        .value(
            "issuer", \.issuer, .name(such: "cluster"), missing: "the name of one of the issuers",
            "the `name` of one of the `issuers`"),
        .value(
            "subject", \.subject, .pattern,
            missing: "the claim sub of the caller, or a pattern, such as system:serviceaccount:shop:*",
            "a pattern for the claim `sub`"),
        .key(
            "claims", values: "a mapping of claims and patterns", standard: "no further claim",
            "further claims that the token must have, such as `ref: refs/heads/main`. Of an array, one element must match",
            read: { $1.readClaims($0, $2) }),
    ]

    private static let mostClaims = 20

    private mutating func readClaims(_ node: SettingNode, _ findings: Findings) -> Bool {
        guard case .mapping(let entries) = node.content else {
            node.refuse(as: .mapping, findings)
            return false
        }
        guard (1...Self.mostClaims).contains(entries.count) else {
            findings.fault("has \(entries.count) claims; give 1 to \(Self.mostClaims)", at: node.origin)
            return false
        }
        claims = entries.compactMap { entry in
            SettingKind.textPattern.read(entry.value, findings).map { RequiredClaim(name: entry.name, value: $0) }
        }
        return claims.count == entries.count
    }
}

extension IdentitySettings: CustomStringConvertible {
    /// Such as `cluster:system:serviceaccount:shop:web ref=refs/heads/main`.
    public var description: String {
        (["\(issuer):\(subject)"] + claims.map { "\($0.name)=\($0.value)" }.sorted()).joined(separator: " ")
    }
}

extension RateSettings: SettingSection {
    static let settings: [Setting<Self>] = [
        .value(
            "perSecond", \.perSecond, .number(0.001...1_000_000),
            missing: "the number of requests allowed per second, such as 50 or 0.5", standard: "no limit",
            "requests that are added to the allowance in a second; may be a fraction such as `0.5`"),
        .value(
            "burst", \.burst, .integer(1...1_000_000),
            missing: "the number of requests allowed at once, such as 100", standard: "required with `rate`",
            "the maximum of the allowance: requests that may come at once; a batch counts as its number of requests"
        ),
    ]
}

extension RuleSettings: SettingSection {
    fileprivate init(_ origin: ConfigurationOrigin) {
        self.init(apps: [], features: [], origin: "\(origin)")
    }

    static let settings: [Setting<Self>] = [
        .patterns(
            "apps", \.apps, .pattern, of: "app", standard: "required without `services`",
            "requests for an app with such a bundle ID"),
        .patterns(
            "features", \.features, .featurePattern, of: "feature", standard: "required without `services`",
            "requests for such a feature. A pattern with `*` does not cover a feature that gives more than an offer, such as "
                + "the token for a service: name it"),
        .patterns(
            "products", \.products, .pattern, of: "product", standard: "no product",
            "requests that name only such products"),
        .patterns(
            "offers", \.offers, .pattern, of: "offer", standard: "no offer", "requests that name only such offers"),
        .patterns(
            "keyIds", \.keyIDs, .pattern, of: "key ID", standard: "no key",
            "requests that name only such keys (only the compatibility call can name one)"),
        .patterns(
            "services", \.services, .pattern, of: "service", standard: "no service",
            "requests for tokens of such services"),
        .patterns(
            "scopes", \.scopes, .textPattern, of: "scope", standard: "no scope",
            "requests for tokens that choose only such scopes"),
        .patterns(
            "origins", \.origins, .pattern, of: "origin", standard: "no origin",
            "requests for tokens that choose only such origins"),
        .patterns(
            "subjects", \.subjects, .pattern, of: "subject", standard: "no subject",
            "requests for tokens that choose only such subjects"),
        .optional(
            "maxLifetime", \.maximumLifetime, .integer(1...15_777_000, unit: "s"),
            standard: "no other limit than that of the service",
            "requests for tokens that are valid for at most this many seconds"),
    ]

    /// A rule is for requests of apps, for services, or for both.
    func finish(_ given: GivenSettings, _ findings: Findings) {
        let isForServices = given.isPresentOrMisspelt("services")
        let isForApps = ["apps", "features", "products", "offers", "keyIds"].contains(where: given.isPresentOrMisspelt)
        if !isForServices || isForApps {
            for (name, what) in [
                ("apps", "a list of bundle IDs, such as [com.example.app], or of patterns, such as [\"*\"]"),
                ("features", "a list of features, of FEATURES, or of patterns, such as [\"*\"]"),
            ] where !given.isPresentOrMisspelt(name) {
                findings.fault(
                    "is missing; give \(findings.plugins.completed(what))", at: given.origin.child(name))
            }
        }
        guard !isForServices else { return }
        for name in ["scopes", "origins", "subjects", "maxLifetime"] {
            guard let origin = given.origin(of: name) else { continue }
            findings.fault("has no effect without services; give services, or remove it", at: origin)
        }
    }

    /// For the differences of a reload. The contents of a rule are its identity, because the order of rules has no
    /// meaning.
    fileprivate func element(at index: Int) -> SettingTree {
        .element(index.description, identity: SettingTree.shown(outline), outline)
    }
}

extension Setting<RuleSettings> {
    fileprivate static func patterns(
        _ name: String, _ field: Field<[Pattern]>, _ kind: SettingKind<Pattern>, of what: String,
        missing: String? = nil, standard: String = "", _ summary: String
    ) -> Self {
        var row = list(
            name, field, of: what, kind.once("the \(what)", inList: true), values: "a list of patterns",
            missing: missing, standard: standard, summary, outline: { .set(name, $0.map(\.text)) })
        let outline = row.outline
        row.outline = { $0[keyPath: field].isEmpty ? nil : outline($0) }
        return row
    }
}

// MARK: Kinds of values

extension SettingKind<IdentitySettings> {
    fileprivate static var identity: Self {
        let section = SettingKind<IdentitySettings>.section { _ in IdentitySettings() }
        return Self(values: section.values, read: section.read, text: { $0.description })
    }
}

extension SettingKind<Pattern> {
    fileprivate static var pattern: Self {
        let identifier = SettingKind<String>.identifier
        return Self(
            values: "a pattern", read: { identifier.read($0, $1).map { Pattern($0) } }, text: { $0.text })
    }

    /// A text with inner spaces, such as `GET /v1/apps*`.
    fileprivate static var textPattern: Self {
        let text = SettingKind<String>.tokenText
        return Self(values: "a pattern", read: { text.read($0, $1).map { Pattern($0) } }, text: { $0.text })
    }

    /// A pattern without `*` must be a known feature.
    fileprivate static var featurePattern: Self {
        var kind = pattern
        kind.read = { node, findings in
            guard let pattern = Self.pattern.read(node, findings) else { return nil }
            let known = findings.plugins.features
            guard pattern.isExact, !known.containsExactly(pattern.text) else { return pattern }
            findings.fault(SettingKind<String>.unknown(pattern.text, among: known, findings).sentence, at: node.origin)
            return nil
        }
        return kind
    }
}

extension SettingKind<Timestamp> {
    fileprivate static var time: Self {
        var kind = parsed("date, time and zone (RFC 3339)", Timestamp.init(configured:)) { $0.configurationText }
        kind.compared = { $0.milliseconds.description }
        return kind
    }
}

extension Timestamp {
    /// Reads `2027-01-01T00:00:00Z` or `2027-01-01T02:00:00.5+02:00` (RFC 3339 §5.6).
    init(configured text: String) throws(InvalidValue) {
        guard let time = Timestamp(anyRFC3339: text) else {
            throw InvalidValue("is not a time; write the date, time and zone, such as 2027-01-01T00:00:00Z")
        }
        self = time
    }

    /// RFC 3339 in UTC, in whole seconds.
    var configurationText: String { secondText + "Z" }
}

extension ClientSettings {
    /// Why a client cannot have this name, as the end of a sentence; nil if it can.
    public static func complaint(name: String) -> String? {
        guard name.hasOnlyLowercase(or: "._-"), (1...63).contains(name.utf8.count), !".-_".contains(name.prefix(1))
        else {
            return "must be 1 to 63 lower-case letters, digits, periods, hyphens and underscores, and begin with a "
                + "letter or a digit, such as shop"
        }
        // The gateway's own names for callers that are not clients.
        return ["anonymous", "operator", "gateway"].contains(name)
            ? "is reserved for callers that are not clients; give another name" : nil
    }
}

extension SettingKind<String> {
    fileprivate static var clientName: Self {
        .parsed("1 to 63 of `a-z0-9._-`") { text throws(InvalidValue) in
            if let complaint = ClientSettings.complaint(name: text) { throw InvalidValue(complaint) }
            return text
        }
    }
}

extension SettingKind<Digest256> {
    /// The SHA-256 of a token. No message repeats the text, which may be a misplaced secret.
    fileprivate static var tokenDigest: Self {
        .parsed("64 hexadecimal digits") { text throws(InvalidValue) in
            guard text.utf8.count == 64, let digest = Digest256(text) else {
                throw InvalidValue(
                    "is not a SHA-256; it must be 64 hexadecimal digits, which privyseal clients mint shows with the token"
                )
            }
            try require(
                digest != Digest256(of: ""),
                "is the SHA-256 of an empty token; use the one that privyseal clients mint shows")
            return digest
        }
    }
}

extension SettingKind<UInt32> {
    /// Without the greatest number, which stands for "no user" in system calls (chown(2)).
    fileprivate static var uid: Self {
        let number = SettingKind<Int>.integer(0...Int(UInt32.max) - 1)
        return Self(
            values: number.values, read: { number.read($0, $1).map { UInt32(truncatingIfNeeded: $0) } },
            text: { $0.description })
    }
}

extension SettingKind<CertificateSettings> {
    fileprivate static var certificate: Self {
        let section = SettingKind<CertificateSection>.section { _ in CertificateSection() }
        return Self(values: section.values, read: { section.read($0, $1)?.claim })
    }

    fileprivate static var fingerprint: Self {
        .parsed("`sha256:` and 64 hexadecimal digits") { text throws(InvalidValue) in
            let prefix = "sha256:"
            let digits = text.dropFirst(prefix.count).filter { $0 != ":" }
            guard text.lowercased().hasPrefix(prefix), digits.utf8.count == 64,
                let digest = Digest256(digits)
            else {
                throw InvalidValue(
                    "is not a fingerprint; it must be sha256: and the 64 hexadecimal digits of the SHA-256 of the certificate's "
                        + "public key in DER")
            }
            return .fingerprint(digest)
        }
    }

    fileprivate static var dnsName: Self {
        .parsed("a DNS name without `*`") { text throws(InvalidValue) in
            try require(
                DNSName.isName(text),
                "is not a DNS name; give the whole name that the certificate holds, such as shop.example.com, "
                    + "without a * and in its ASCII form")
            return .dnsName(text.lowercased())
        }
    }

    fileprivate static var uri: Self {
        .parsed("a URI") { text throws(InvalidValue) in
            // A URI in a certificate may have a fragment; a key's URI has none.
            let isURI =
                (try? KeyURI(String(text.prefix { $0 != "#" }))) != nil
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            try require(
                isURI && text.utf8.count <= 2048,
                "is not a URI; give the one that the certificate holds, such as spiffe://example.com/shop")
            return .uri(text)
        }
    }
}
