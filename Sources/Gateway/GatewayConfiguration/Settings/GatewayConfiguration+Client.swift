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

        static let settings: [Setting<Self>] = [
            .value(
                "name", \.name, .clientName, missing: "the client's name in logs and metrics, such as shop",
                "for logs and metrics; the first character is a letter or a digit; unique, and not `anonymous`, `operator` "
                    + "or `gateway`"
            ).shown { _ in nil },
            .value(
                "administrator", \.isAdministrator, .boolean,
                "whether the client may use the admin listener. On its Unix socket, root and the gateway's own user may use "
                    + "it without being clients"
            ).shown { $0.isAdministrator ? .setting("administrator", "true") : nil },
            .key(
                "tokens", "a list", "bearer tokens, see below", members: ClientToken.reference,
                outline: { .group("tokens", $0.tokens.map(\.element)) }),
            .key(
                "certificates", "a list", "TLS client certificates, see below", members: CertificateIdentity.reference,
                outline: { .group("certificates", $0.certificates.map { .element($0.claim.description, []) }) }),
            .key(
                "uids", "a list of 0 to \(UserID.numbers.upperBound)", "users of processes on a Unix socket",
                outline: { .group("uids", $0.uids.map { .element($0.number.description, []) }) }),
            .key(
                "allow", "a list", standard: "nothing is allowed", "the rules, see [below](#clientsallow)",
                members: Rule.reference,
                outline: { .group("allow", $0.allow.enumerated().map { $1.element(at: $0) }) }),
            .section("rate", optional: \.rate) { _ in Rate() },
            .optional(
                "dailyQuota", \.dailyQuota, .integer(1...1_000_000_000), standard: "no limit",
                "requests in a day (UTC)"),
        ]

        static var reference: [SettingReference] { reference(of: Client(origin: ConfigurationOrigin(source: ""))) }
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
                "sha256", \.digest, .tokenDigest,
                missing: "the 64 hexadecimal digits of the token's SHA-256, which privyseal clients mint shows",
                "the SHA-256 of the token's whole text, as `privyseal clients mint` prints it"
            ).shown { _ in nil },
            .optional(
                "expires", \.expires, .time, standard: "never",
                "when the token stops being valid, such as `2027-01-01T00:00:00Z`"),
        ]

        static var reference: [SettingReference] { reference(of: ClientToken(origin: ConfigurationOrigin(source: ""))) }

        fileprivate var element: SettingTree.Member {
            .element(description, identity: Hexadecimal.encode(digest), outline)
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

extension SettingKind<Timestamp> {
    fileprivate static var time: Self {
        Self(
            values: "date, time and zone (RFC 3339)",
            read: { $0.parsed($1) { text throws(InvalidValue) in try Timestamp(configured: text) } },
            text: { $0.configurationText }, compared: { $0.milliseconds.description })
    }
}

extension SettingKind<String> {
    fileprivate static var clientName: Self {
        .parsed("1 to 63 of `a-z0-9._-`") { text throws(InvalidValue) in
            guard isClientName(text) else {
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

    private static func isClientName(_ text: String) -> Bool {
        text.hasOnlyLowercase(or: "._-") && (1...63).contains(text.utf8.count) && !text.hasPrefix(".")
            && !text.hasPrefix("-")
            && !text.hasPrefix("_")
    }
}
