public import SigningKit

/// A caller that the gateway knows: how it proves who it is, and what it may do. Whatever is not allowed here is denied.
public struct ClientPlan: Sendable {
    /// Unique; it is a label of metrics.
    public var name: String
    /// Whether it may use the admin listener.
    public var isAdministrator: Bool
    public var tokens: [TokenPlan]
    public var certificates: [CertificatePlan]
    /// Of processes at the other end of a Unix socket.
    public var uids: [UInt32]
    public var rules: [RulePlan]
    /// Nil for no limit.
    public var rate: RatePlan?
    /// Signatures in a day of UTC; nil for no limit.
    public var dailyQuota: Int?
    /// Where it is configured, such as `gateway.yaml:31: clients[0]`.
    public var origin: String

    public init(
        name: String, isAdministrator: Bool = false, tokens: [TokenPlan] = [], certificates: [CertificatePlan] = [],
        uids: [UInt32] = [], rules: [RulePlan] = [], rate: RatePlan? = nil, dailyQuota: Int? = nil, origin: String = ""
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

/// What is kept of a token.
public struct TokenPlan: Sendable {
    /// Of the token's whole text.
    public var digest: Digest256
    /// From this moment on it is refused; nil for never.
    public var expires: Timestamp?

    public init(digest: Digest256, expires: Timestamp? = nil) {
        self.digest = digest
        self.expires = expires
    }
}

/// What a client's certificate must show.
public enum CertificatePlan: Hashable, Sendable {
    /// The SHA-256 of its SubjectPublicKeyInfo in DER.
    case fingerprint(Digest256)
    /// One of its subject alternative names of the type dNSName, in any case. Exactly: a `*` is a character like others.
    case dnsName(String)
    /// One of its subject alternative names of the type URI, to the byte, such as a SPIFFE ID.
    case uri(String)
}

/// What a client may have signed. A rule allows a request when it matches all that the request names; parts of two rules do
/// not add up.
public struct RulePlan: Sendable {
    public var apps: [Pattern]
    public var features: [Pattern]
    /// None: a request that names a product is not allowed.
    public var products: [Pattern]
    public var offers: [Pattern]
    /// Of keys that a request names; one that names none has the account's active key.
    public var keyIDs: [Pattern]
    /// Where it is configured, such as `gateway.yaml:36: clients[0].allow[0]`.
    public var origin: String

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

/// A token bucket: it holds `burst` requests, and `perSecond` come back each second.
public struct RatePlan: Hashable, Sendable {
    /// Over 0; may be a fraction.
    public var perSecond: Double
    /// At least 1.
    public var burst: Int

    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
