extension GatewayConfiguration {
    /// An issuer of the clients' `identities`, and where its keys are.
    public struct Issuer: SettingSection {
        public internal(set) var name = ""
        /// Exactly one of `issuer` and `trustDomain` is set.
        public internal(set) var issuer: String?
        public internal(set) var trustDomain: String?
        public internal(set) var audience = ""
        /// An absolute path, or a URL.
        public internal(set) var keys = ""
        public internal(set) var trustRoots: File?
        public internal(set) var refreshInterval: Duration = .seconds(300)
        public internal(set) var maximumAge: Duration = .seconds(3600)
        public let origin: ConfigurationOrigin

        static let settings: [Setting<Self>] = [
            .value(
                "name", \.name, .name(such: "cluster").once("the issuer"),
                missing: "a name for clients[].identities, such as cluster",
                "the name in `clients[].identities`; unique"
            ).shown { _ in nil },
            .optional(
                "issuer", \.issuer, .identifier.once("the claim iss"), standard: "required without `trustDomain`",
                "the claim `iss` of its tokens, compared exactly"),
            .optional(
                "trustDomain", \.trustDomain, .trustDomain.once("the trust domain"),
                standard: "required without `issuer`",
                "for SPIFFE JWT-SVIDs: the trust domain of the SPIFFE ID in the claim `sub`"),
            .value(
                "audience", \.audience, .identifier,
                missing:
                    "what callers ask their issuer to put into the claim aud, such as https://privyseal.example.com",
                "the name of this gateway: one of the values of the claim `aud`, compared exactly"),
            .value(
                "keys", \.keys, .keySetLocation,
                missing: "the issuer's JWK set, as an absolute path or an https:// URL",
                "the issuer's public keys, as a JWK set (RFC 7517). Keys for ES256, RS256 and EdDSA (Ed25519) count"),
            .optional(
                "trustRoots", \.trustRoots, .file(such: "/etc/privyseal/issuer-ca.pem"),
                standard: "the CAs of the system",
                "PEM file with the CAs that may sign the certificate of the server in `keys`"),
            .value(
                "refreshInterval", \.refreshInterval, .seconds(10...86_400),
                "seconds after which the next request makes the gateway read the keys again, without waiting for them. A "
                    + "token with an unknown `kid` does the same and waits, at most once a minute"),
            .value(
                "maxAge", \.maximumAge, .seconds(60...604_800),
                "seconds after which keys that could not be read again no longer prove anything"),
        ]

        func finish(_ given: GivenSettings, _ findings: Findings) {
            let count = ["issuer", "trustDomain"].count(where: given.isPresentOrMisspelt)
            if count != 1 {
                findings.fault(
                    count == 0
                        ? "has neither issuer nor trustDomain; give one of them"
                        : "has both issuer and trustDomain; remove one of them", at: given.origin)
            }
            if let origin = given.valid("trustRoots"), keys.hasPrefix("/") {
                findings.fault("has no effect, because keys is a file; remove it", at: origin)
            }
            let limit = given.valid("maxAge") ?? given.valid("refreshInterval")
            if let limit, maximumAge <= refreshInterval {
                findings.fault(
                    "makes maxAge (\(maximumAge.components.seconds) s) not greater than refreshInterval "
                        + "(\(refreshInterval.components.seconds) s); keys would be too old before they are read again",
                    at: limit)
            }
        }
    }
}

extension SettingKind<String> {
    /// SPIFFE-ID §2.1.
    fileprivate static var trustDomain: Self {
        .parsed("a SPIFFE trust domain, without `spiffe://`") { text throws(InvalidValue) in
            try require(
                text.hasOnlyLowercase(or: ".-_") && (1...255).contains(text.utf8.count),
                "must be a trust domain of lower-case letters, digits, periods, hyphens and underscores, without "
                    + "spiffe://, such as example.org")
            return text
        }
    }

    fileprivate static var keySetLocation: Self {
        let url = url(for: .keySet, "")
        let file = SettingKind<GatewayConfiguration.File>.file(such: "/etc/privyseal/cluster.jwks.json")
        return Self(
            values: "an absolute path, or a URL",
            read: { node, findings in
                if case .scalar(let text, _) = node.content, text.hasPrefix("http") { return url.read(node, findings) }
                return file.read(node, findings)?.path
            }, text: { $0 })
    }
}
