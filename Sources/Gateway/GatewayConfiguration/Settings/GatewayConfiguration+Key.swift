public import Crypto
public import Signing
public import SigningKit

extension GatewayConfiguration {
    /// A signing key of an account, and its location.
    @dynamicMemberLookup
    public struct Key: Sendable, CustomStringConvertible {
        public enum Provenance: String, CaseIterable, Sendable {
            case imported, generated
        }

        /// The settings of a key.
        public struct Settings: SettingSection {
            /// The ID in App Store Connect: `keyIdentifier`, or `kid` in a JWS header.
            public internal(set) var keyID = ""
            /// Nil until it is read.
            var location: KeyLocation?
            /// Further places of the same key, in order.
            public internal(set) var replicas: [KeyLocation] = []
            /// How a request selects one of several places.
            public internal(set) var selection: KeySelection = .inOrder
            /// The gateway refuses a key with another public key.
            public internal(set) var fingerprint: PublicKeyFingerprint?
            /// From `publicKeyFile`, for a token that has neither a public key nor a certificate.
            public internal(set) var publicKey: P256.Signing.PublicKey?
            /// The intended number of days from the key's activation.
            public internal(set) var cryptoperiod = 730
            /// How a key came into its token, if its import or generation is not recorded; nil if it is not configured.
            public internal(set) var provenance: Provenance?

            static let settings: [Setting<Self>] = [
                .value(
                    "keyId", \.keyID, .assignedIdentifier.once("the key ID"),
                    missing: "the key's ID in App Store Connect, such as 2X9R4HXF34",
                    "the key's ID in App Store Connect; unique in the whole file"
                ).shown { _ in nil },
                .optional(
                    "uri", \.location, .keyLocation("a URI, see below"),
                    missing: "the location of the key: a URI with the scheme SCHEMES", "the location of the key"),
                .list(
                    "replicas", \.replicas, of: "URI", .keyLocation("a URI"),
                    values: "a list of 1 to \(KeySettings.mostReplicas) URIs",
                    "further places of the same key, see [several tokens for one key](#several-tokens-for-one-key)",
                    outline: { .keyLocations("replicas", $0) }),
                .value(
                    "selection", \.selection, .choice,
                    "which place signs a request, if there are `replicas`: the first that can, or the one with the fewest "
                        + "signatures in progress"
                ).shown { $0.replicas.isEmpty ? nil : .setting("selection", $0.selection.rawValue) },
                .optional(
                    "publicKey", \.fingerprint, .fingerprint,
                    "the expected public key: the SHA-256 of its SubjectPublicKeyInfo in DER"),
                .optional(
                    "publicKeyFile", \.publicKey, .publicKeyFile,
                    "the public key in PEM, for a token that has neither a public key nor a certificate"),
                .value(
                    "cryptoperiod", \.cryptoperiod, .integer(1...1095, unit: "d"),
                    "days that the key is meant to be active; the compliance report lists older keys. NIST SP 800-57 part "
                        + "1 rev. 5 §5.3.6 gives a private signature key one to three years"),
                .optional(
                    "provenance", \.provenance, .choice,
                    "how the key came into its token, if its import or generation is not on record. A key from App Store "
                        + "Connect is imported"),
            ]

            func finish(_ given: GivenSettings, _ findings: Findings) {
                if let origin = given.valid("keyId"), !Self.isUsual(keyID) {
                    findings.warn(
                        "is not ten upper-case letters and digits, but key IDs in App Store Connect are; check it",
                        at: origin)
                }
                // Apple gives each key one ID, and refuses signatures that name another.
                for place in places {
                    guard let first = findings.earlier("address", place.address, at: place.origin) else { continue }
                    findings.warn(
                        "is also the location of another key (\(first)); each key has one key ID", at: place.origin)
                }
                checkReplicas(given, findings)
                guard let publicKey, let origin = given.valid("publicKey") else { return }
                let found = PublicKeyFingerprint(of: publicKey)
                guard fingerprint != found else { return }
                findings.fault(
                    "is not the fingerprint of the key in publicKeyFile, which is \(found); correct or remove one of them",
                    at: origin)
            }

            /// All places, without repeated ones.
            private var places: [KeyLocation] {
                ((location.map { [$0] } ?? []) + replicas).reduce(into: []) { places, place in
                    if !places.contains(where: { $0.address == place.address }) { places.append(place) }
                }
            }

            private func checkReplicas(_ given: GivenSettings, _ findings: Findings) {
                guard let origin = given.valid("replicas") else {
                    if let origin = given.valid("selection"), given.origin(of: "replicas") == nil {
                        findings.warn("has no effect without replicas; add replicas, or remove it", at: origin)
                    }
                    return
                }
                if replicas.count > KeySettings.mostReplicas {
                    findings.fault(
                        "names \(replicas.count) places; at most \(KeySettings.mostReplicas) are allowed", at: origin)
                }
                var seen = location.map { [$0] } ?? []
                for replica in replicas {
                    if let first = seen.first(where: { $0.address == replica.address }) {
                        findings.fault(
                            "names the place that is already given at \(first.origin); give it only once",
                            at: replica.origin)
                    }
                    seen.append(replica)
                }
                if given.origin(of: "publicKey") == nil, given.origin(of: "publicKeyFile") == nil {
                    findings.warn(
                        "is given without publicKey, so the first place that can be opened decides which key this is; "
                            + "pin it with publicKey, which privyseal keys list shows", at: origin)
                }
            }

            /// Apple publishes no rule for key IDs. Those of Apple Ads and Apple Business Manager are UUIDs.
            private static func isUsual(_ keyID: String) -> Bool {
                IdentifierForm.uuid.matches(keyID) || IdentifierForm.tenCharacters.matches(keyID)
            }
        }

        public let location: KeyLocation
        /// The URI, split by its backend. The selector contains `publicKey` if the configuration has it.
        public var address: KeyAddress { addresses[0] }
        /// The address of each place, in order.
        public let addresses: [KeyAddress]
        let settings: Settings
        public let origin: ConfigurationOrigin

        fileprivate init(_ location: KeyLocation, _ settings: Settings, origin: ConfigurationOrigin) {
            self.location = location
            self.settings = settings
            self.origin = origin
            let point = settings.publicKey.map { Array($0.x963Representation) }
            addresses = ([location] + settings.replicas).map { place in
                var address = place.address
                if let point { address.selector.publicKey = point }
                return address
            }
        }

        public var uri: KeyURI { location.uri }
        /// The URI of each place, in order.
        public var uris: [KeyURI] { [uri] + settings.replicas.map(\.uri) }

        /// For logs and tables, without the attributes that lead to a secret.
        public var description: String { "\(settings.keyID) at \(uri)" }

        public subscript<Value>(dynamicMember field: KeyPath<Settings, Value>) -> Value { settings[keyPath: field] }
    }
}

extension SettingTree {
    static func keys(_ keys: [GatewayConfiguration.Key]) -> SettingTree {
        .group("keys", keys.map { .element($0.keyID, $0.settings.outline) })
    }
}

extension SettingKind<GatewayConfiguration.Key> {
    static var key: Self {
        Self(
            values: "a mapping",
            read: { node, findings in
                var settings = GatewayConfiguration.Key.Settings()
                _ = settings.readSection(node, findings)
                guard let location = settings.location, !settings.keyID.isEmpty else { return nil }
                return GatewayConfiguration.Key(location, settings, origin: node.origin)
            })
    }
}

extension SettingKind<PublicKeyFingerprint> {
    fileprivate static var fingerprint: Self {
        .parsed("`sha256:` and 64 hexadecimal digits") { text throws(InvalidValue) in
            guard let fingerprint = PublicKeyFingerprint(text) else {
                throw InvalidValue(
                    "is not a fingerprint; it must be sha256: and the 64 hexadecimal digits of the SHA-256 of the public "
                        + "key in DER, which privyseal keys list shows")
            }
            return fingerprint
        }
    }
}

extension SettingKind<P256.Signing.PublicKey> {
    fileprivate static var publicKeyFile: Self {
        .parsed("absolute path") { path throws(InvalidValue) in
            try require(
                path.hasPrefix("/"), "must be an absolute path, such as /etc/privyseal/2X9R4HXF34.pub.pem")
            return try PublicKeyFile.read(path)
        } text: {
            PublicKeyFingerprint(of: $0).description
        }
    }
}

extension Findings {
    /// - Parameter owner: of the keys: `account` or `service`.
    func checkActiveKey(
        _ keyID: String, among keys: [GatewayConfiguration.Key], of owner: String, _ given: GivenSettings
    ) {
        let known = keys.map(\.keyID)
        guard let origin = given.valid("activeKey"), given.valid("keys") != nil, !known.containsExactly(keyID) else {
            return
        }
        fault(
            "is \(Excerpt.quoted(keyID)), which is not the keyId of any key of this \(owner); "
                + Suggestion.question(Suggestion.nearest(to: keyID, among: known)) + " keys are "
                + Suggestion.list(known.map { Excerpt.quoted($0) }), at: origin)
    }
}
