public import Crypto
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
                if let location, let first = findings.earlier("address", location.address, at: location.origin) {
                    findings.warn(
                        "is also the location of another key (\(first)); each key has one key ID", at: location.origin)
                }
                guard let publicKey, let origin = given.valid("publicKey") else { return }
                let found = PublicKeyFingerprint(of: publicKey)
                guard fingerprint != found else { return }
                findings.fault(
                    "is not the fingerprint of the key in publicKeyFile, which is \(found); correct or remove one of them",
                    at: origin)
            }

            /// Apple publishes no rule for key IDs.
            private static func isUsual(_ keyID: String) -> Bool {
                keyID.utf8.count == 10 && keyID.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
            }
        }

        public let location: KeyLocation
        /// The URI, split by its backend. The selector contains `publicKey` if the configuration has it.
        public let address: KeyAddress
        let settings: Settings
        public let origin: ConfigurationOrigin

        fileprivate init(_ location: KeyLocation, _ settings: Settings, origin: ConfigurationOrigin) {
            self.location = location
            self.settings = settings
            self.origin = origin
            var address = location.address
            if let publicKey = settings.publicKey { address.selector.publicKey = Array(publicKey.x963Representation) }
            self.address = address
        }

        public var uri: KeyURI { location.uri }

        /// For logs and tables, without the attributes that lead to a secret.
        public var description: String { "\(settings.keyID) at \(uri)" }

        public subscript<Value>(dynamicMember field: KeyPath<Settings, Value>) -> Value { settings[keyPath: field] }
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
