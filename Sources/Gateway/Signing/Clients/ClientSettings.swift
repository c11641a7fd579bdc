public import SigningKit
import WorkloadIdentities

/// The credentials and rights of a client. A request that no rule allows is denied.
public struct ClientSettings: Sendable {
    /// The unique name, which is also a metric label.
    public var name: String
    /// Whether it may use the admin listener.
    public var isAdministrator: Bool
    public var tokens: [TokenSettings]
    public var certificates: [CertificateSettings]
    public var identities: [IdentitySettings] = []
    /// The uids of peer processes of a Unix socket.
    public var uids: [UInt32]
    public var rules: [RuleSettings]
    /// Nil for no limit.
    public var rate: RateSettings?
    /// Signatures per day in UTC; nil for no limit.
    public var dailyQuota: Int?
    /// Where the client is configured, such as `gateway.yaml:31: clients[0]`.
    public var origin: String

    public init(
        name: String, isAdministrator: Bool = false, tokens: [TokenSettings] = [],
        certificates: [CertificateSettings] = [],
        uids: [UInt32] = [], rules: [RuleSettings] = [], rate: RateSettings? = nil, dailyQuota: Int? = nil,
        origin: String = ""
    ) {
        self.name = name
        self.isAdministrator = isAdministrator
        self.tokens = tokens
        self.certificates = certificates
        self.uids = uids
        self.rules = rules
        self.rate = rate
        self.dailyQuota = dailyQuota
        self.origin = origin
    }
}

/// The stored data of a token.
public struct TokenSettings: Sendable {
    /// The digest of the token's whole text.
    public var digest: Digest256
    /// The time from which the token is refused; nil for never.
    public var expires: Timestamp?

    public init(digest: Digest256, expires: Timestamp? = nil) {
        self.digest = digest
        self.expires = expires
    }
}

/// What a client's certificate must contain.
public enum CertificateSettings: Hashable, Sendable {
    /// The SHA-256 of its SubjectPublicKeyInfo in DER.
    case fingerprint(Digest256)
    /// One of its subject alternative names of type dNSName. Case is ignored. `*` is an ordinary character.
    case dnsName(String)
    /// One of its subject alternative names of type URI, compared by bytes, such as a SPIFFE ID.
    case uri(String)
}

/// What a JWT of an issuer must contain to prove the client.
public struct IdentitySettings: Hashable, Sendable {
    /// The name of the issuer.
    public var issuer: String
    /// For the claim `sub`.
    public var subject: Pattern
    /// Further claims that must match.
    public var claims: [RequiredClaim]

    public init(issuer: String, subject: Pattern, claims: [RequiredClaim] = []) {
        self.issuer = issuer
        self.subject = subject
        self.claims = claims
    }

    func matches(_ identity: WorkloadIdentity) -> Bool {
        issuer == identity.issuer && subject.matches(identity.subject)
            && identity.hasClaims(claims.map { ($0.name, $0.value) })
    }
}

public struct RequiredClaim: Hashable, Sendable {
    public var name: String
    public var value: Pattern

    public init(name: String, value: Pattern) {
        self.name = name
        self.value = value
    }
}

/// What a client may have signed. One rule must match all names in a request; rules do not add up.
public struct RuleSettings: Sendable {
    public var apps: [Pattern]
    public var features: [Pattern]
    /// If empty, a request that names a product is not allowed.
    public var products: [Pattern]
    public var offers: [Pattern]
    /// Patterns for key IDs in requests. A request without a key ID gets the account's active key.
    public var keyIDs: [Pattern]
    /// Patterns for the names of services.
    public var services: [Pattern] = []
    /// Patterns for what a request for a service token chooses. If empty, it may choose none.
    public var scopes: [Pattern] = []
    public var origins: [Pattern] = []
    public var subjects: [Pattern] = []
    /// The most seconds that a token may be valid; nil for no other limit than that of the service.
    public var maximumLifetime: Int?
    /// Where the rule is configured, such as `gateway.yaml:36: clients[0].allow[0]`.
    public var origin: String
    /// Whether it is the rule of `operator`, which allows everything.
    var isOfOperator = false

    public init(
        apps: [Pattern], features: [Pattern], products: [Pattern] = [], offers: [Pattern] = [], keyIDs: [Pattern] = [],
        origin: String = ""
    ) {
        self.apps = apps
        self.features = features
        self.products = products
        self.offers = offers
        self.keyIDs = keyIDs
        self.origin = origin
    }
}

/// A token bucket of `burst` requests, to which `perSecond` requests return each second.
public struct RateSettings: Hashable, Sendable {
    /// Greater than 0, with or without a fraction.
    public var perSecond: Double
    /// At least 1.
    public var burst: Int

    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
