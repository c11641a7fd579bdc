import Crypto
import Encodings
public import SigningKit

extension GatewayConfiguration {
    /// A client, with its credentials and the signatures that it may get.
    public struct Client: SettingSection {
        /// 1 to 63 of `a-z0-9._-`; unique.
        public internal(set) var name = ""
        /// Whether the client may use the admin listener.
        public internal(set) var isAdministrator = false
        public internal(set) var tokens: [ClientToken] = []
        public internal(set) var certificates: [CertificateIdentity] = []
        /// The users of processes on a Unix socket (`SO_PEERCRED`).
        public internal(set) var uids: [UserID] = []
        /// A request that no rule allows is denied.
        public internal(set) var allow: [Rule] = []
        /// Nil for no limit.
        public internal(set) var rate: Rate?
        /// Requests per day (UTC); nil for no limit.
        public internal(set) var dailyQuota: Int?
        public let origin: ConfigurationOrigin

        /// Each credential identifies one client, so it may occur only once in the file.
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
                "tokens", \.tokens, of: "token", .section { ClientToken(origin: $0) }, "bearer tokens, see below",
                members: ClientToken.reference(of: ClientToken(origin: .unknown)),
                outline: {
                    .group(
                        "tokens",
                        $0.map { .element("\($0)", identity: Hexadecimal.encode($0.digest), $0.outline) })
                }),
            .list(
                "certificates", \.certificates, of: "certificate", .section { CertificateIdentity(origin: $0) },
                "TLS client certificates, see below",
                members: CertificateIdentity.reference(of: CertificateIdentity(origin: .unknown)),
                outline: { .group("certificates", $0.map { .element("\($0.claim)", []) }) }),
            .list(
                "uids", \.uids, of: "uid", .userID.once("the uid") { $0 },
                values: "a list of 0 to \(UserID.numbers.upperBound)", "users of processes on a Unix socket",
                outline: { .group("uids", $0.map { .element("\($0.number)", []) }) }),
            .list(
                "allow", \.allow, of: "rule", .section { Rule(origin: $0) }, standard: "nothing is allowed",
                "the rules, see [below](#clientsallow)", members: Rule.reference(of: Rule(origin: .unknown)),
                outline: { .group("allow", $0.enumerated().map { $1.element(at: $0) }) }),
            .section("rate", optional: \.rate) { _ in Rate() },
            .optional(
                "dailyQuota", \.dailyQuota, .integer(1...1_000_000_000), standard: "no limit",
                "requests in a day (UTC)"),
        ]

        /// Checks which settings are present, even if invalid, so that one mistake is one fault.
        func finish(_ given: GivenSettings, _ findings: Findings) {
            if !["tokens", "certificates", "uids"].contains(where: given.isPresentOrMisspelt) {
                findings.fault("has no credentials; give it tokens, certificates or uids", at: given.origin)
            }
            let mayAdministrate = isAdministrator || given.faulty.contains("administrator")
            if !given.isPresentOrMisspelt("allow"), !mayAdministrate {
                findings.warn(
                    "may do nothing, because it has no allow and is not an administrator; give it allow, or remove it",
                    at: given.origin)
            }
        }
    }

    /// A bearer token. Only its digest is known.
    public struct ClientToken: SettingSection {
        /// 32 bytes: the SHA-256 of the token's whole text.
        public internal(set) var digest: [UInt8] = []
        /// The time from which the token is refused; nil if it does not expire.
        public internal(set) var expires: Timestamp?
        public let origin: ConfigurationOrigin

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
    }

    /// What a client's TLS certificate must be or name. It must also have a chain to one of the trust roots.
    public struct CertificateIdentity: SettingSection {
        public enum Claim: Hashable, Sendable {
            /// 32 bytes: the SHA-256 of the SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
            case fingerprint([UInt8])
            /// A dNSName among the subject's alternative names (RFC 5280 §4.2.1.6), in lower case.
            case dnsName(String)
            /// A uniformResourceIdentifier among the same names, such as a SPIFFE ID; compared exactly.
            case uri(String)
        }

        public internal(set) var claim = Claim.fingerprint([])
        public let origin: ConfigurationOrigin

        static let settings: [Setting<Self>] = [
            .value(
                "fingerprint", \.claim, .certificateFingerprint.once("the certificate"), standard: "none",
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
                "\(beginning); give exactly one of fingerprint, dnsName and uri in each element of the list", at: origin
            )
        }
    }

    public struct UserID: Sendable {
        public let number: UInt32
        public let origin: ConfigurationOrigin

        /// Without the greatest number, which stands for "no user" in system calls (chown(2)).
        static let numbers = 0...Int(UInt32.max) - 1
    }

    /// A client's rate limit: a token bucket that holds `burst` requests and is filled with `perSecond` of them.
    public struct Rate: SettingSection, Hashable {
        public internal(set) var perSecond = 0.0
        public internal(set) var burst = 0

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
}

extension GatewayConfiguration.ClientToken: CustomStringConvertible {
    /// The first eight hexadecimal digits of the digest, to distinguish tokens.
    public var description: String { Hexadecimal.encode(digest.prefix(4)) }
}

extension GatewayConfiguration.CertificateIdentity.Claim: CustomStringConvertible {
    /// `sha256:…`, `dnsName:…` or `uri:…`.
    public var description: String {
        switch self {
        case .fingerprint(let digest): "sha256:" + Hexadecimal.encode(digest)
        case .dnsName(let name): "dnsName:" + name
        case .uri(let uri): "uri:" + uri
        }
    }
}

extension SettingKind<Timestamp> {
    fileprivate static var time: Self {
        var kind = parsed("date, time and zone (RFC 3339)") { text throws(InvalidValue) in
            try Timestamp(configured: text)
        } text: {
            $0.configurationText
        }
        kind.compared = { $0.milliseconds.description }
        return kind
    }
}

extension Timestamp {
    /// Reads `2027-01-01T00:00:00Z` or `2027-01-01T02:00:00.5+02:00` (RFC 3339 §5.6).
    init(configured text: String) throws(InvalidValue) {
        guard let milliseconds = Array(text.utf8).withUnsafeBufferPointer(RFC3339.milliseconds(_:)) else {
            throw InvalidValue(
                "is not a time; write the date, time and zone, such as 2027-01-01T00:00:00Z")
        }
        self.init(milliseconds: milliseconds)
    }

    /// RFC 3339 in UTC, in whole seconds.
    var configurationText: String { String(decoding: rfc3339.prefix(19), as: UTF8.self) + "Z" }
}

extension SettingKind<String> {
    fileprivate static var clientName: Self {
        .parsed("1 to 63 of `a-z0-9._-`") { text throws(InvalidValue) in
            guard text.hasOnlyLowercase(or: "._-"), (1...63).contains(text.utf8.count),
                text.utf8.first.map({ $0 >= UInt8(ascii: "0") && $0 != UInt8(ascii: "_") }) == true
            else {
                throw InvalidValue(
                    "must be 1 to 63 lower-case letters, digits, periods, hyphens and underscores, and begin with a letter or "
                        + "a digit, such as shop")
            }
            // The gateway's own names for callers that are not clients.
            guard !["anonymous", "operator", "gateway"].contains(text) else {
                throw InvalidValue("is reserved for callers that are not clients; give another name")
            }
            return text
        } text: {
            $0
        }
    }
}

extension SettingKind<[UInt8]> {
    /// The SHA-256 of a token. No message repeats the text, which may be a misplaced secret.
    fileprivate static var tokenDigest: Self {
        .parsed("64 hexadecimal digits") { text throws(InvalidValue) in
            guard let digest = sha256(text) else {
                throw InvalidValue(
                    "is not a SHA-256; it must be 64 hexadecimal digits, which privyseal clients mint shows with the token"
                )
            }
            guard digest != Array(SHA256.hash(data: [UInt8]())) else {
                throw InvalidValue("is the SHA-256 of an empty token; use the one that privyseal clients mint shows")
            }
            return digest
        } text: {
            Hexadecimal.encode($0)
        }
    }

    /// The 32 bytes of 64 hexadecimal digits of either case; nil for any other text.
    static func sha256(_ digits: some StringProtocol) -> [UInt8]? {
        digits.utf8.count == 64 ? Hexadecimal.decode(digits.utf8) : nil
    }
}

extension SettingKind<GatewayConfiguration.UserID> {
    fileprivate static var userID: Self {
        let number = SettingKind<Int>.integer(GatewayConfiguration.UserID.numbers)
        return Self(
            values: number.values,
            read: { node, findings in
                number.read(node, findings).map { .init(number: UInt32(truncatingIfNeeded: $0), origin: node.origin) }
            },
            text: { $0.number.description })
    }
}

extension SettingKind<GatewayConfiguration.CertificateIdentity.Claim> {
    fileprivate static var certificateFingerprint: Self {
        .parsed("`sha256:` and 64 hexadecimal digits") { text throws(InvalidValue) in
            let prefix = "sha256:"
            let digits = text.dropFirst(prefix.count).filter { $0 != ":" }
            guard text.lowercased().hasPrefix(prefix), let digest = SettingKind<[UInt8]>.sha256(digits) else {
                throw InvalidValue(
                    "is not a fingerprint; it must be sha256: and the 64 hexadecimal digits of the SHA-256 of the certificate's "
                        + "public key in DER")
            }
            return .fingerprint(digest)
        } text: {
            $0.description
        }
    }

    fileprivate static var dnsName: Self {
        .parsed("a DNS name without `*`") { text throws(InvalidValue) in
            guard DNSName.isName(text) else {
                throw InvalidValue(
                    "is not a DNS name; give the whole name that the certificate holds, such as shop.example.com, without a * and "
                        + "in its ASCII form")
            }
            return .dnsName(text.lowercased())
        } text: {
            $0.description
        }
    }

    fileprivate static var uri: Self {
        .parsed("a URI") { text throws(InvalidValue) in
            // A URI in a certificate may have a fragment; a key's URI has none.
            let isURI =
                (try? KeyURI(String(text.prefix { $0 != "#" }))) != nil
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isURI, text.utf8.count <= 2048 else {
                throw InvalidValue(
                    "is not a URI; give the one that the certificate holds, such as spiffe://example.com/shop")
            }
            return .uri(text)
        } text: {
            $0.description
        }
    }
}
