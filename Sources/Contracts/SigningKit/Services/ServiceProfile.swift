public import StrictJSON

/// A kind of token for one of Apple's services: what the operator configures, what a caller may choose, and how the token
/// is made.
public struct ServiceProfile: Sendable {
    /// The name in configurations and audit entries, such as `apns`.
    public let id: String
    public let summary: String
    public let family: ServiceKeyFamily
    /// The settings that identify the team and the service. All of them are required.
    public let identifiers: [ServiceIdentifier]
    /// The members that a request may have.
    public let choices: [ServiceChoice]
    /// The choices that need a value, from the configuration or from the request.
    public let required: [ServiceChoice]
    /// Nil for a token without `exp`.
    public let lifetime: ServiceLifetime?
    public let reuse: ServiceTokenReuse
    /// The header after `alg` and `kid`; for `verify --explain`.
    public let header: [ServiceTokenMember]
    /// Empty for a signature that is not a JWT.
    public let claims: [ServiceTokenMember]
    /// Refuses choices that Apple would refuse. Returns a shorter limit of the lifetime in seconds for them; nil for none.
    public let check: @Sendable (ServiceTokenChoices) throws(JSONReadError) -> Int64?
    public let compose: @Sendable (ServiceTokenOrder) throws(FeatureError) -> Draft<ServiceToken>

    /// The age in seconds from which Apple refuses a token without `exp`
    /// (Apple: "Establishing a token-based connection to APNs").
    public static let oldest: Int64 = 3600

    public init(
        id: String, summary: String, family: ServiceKeyFamily, identifiers: [ServiceIdentifier],
        choices: [ServiceChoice], required: [ServiceChoice], lifetime: ServiceLifetime?, reuse: ServiceTokenReuse,
        header: [ServiceTokenMember] = [], claims: [ServiceTokenMember] = [],
        check: @escaping @Sendable (ServiceTokenChoices) throws(JSONReadError) -> Int64? = { _ in nil },
        compose: @escaping @Sendable (ServiceTokenOrder) throws(FeatureError) -> Draft<ServiceToken>
    ) {
        self.id = id
        self.summary = summary
        self.family = family
        self.identifiers = identifiers
        self.choices = choices
        self.required = required
        self.lifetime = lifetime
        self.reuse = reuse
        self.header = header
        self.claims = claims
        self.check = check
        self.compose = compose
    }
}

/// What Apple issues a key for. A key of one family cannot call the services of another.
public enum ServiceKeyFamily: String, Sendable {
    case inAppPurchase = "In-App Purchase key"
    case appStoreConnectTeam = "App Store Connect team key"
    case appStoreConnectIndividual = "App Store Connect individual key"
    case enterpriseProgram = "Enterprise Program key"
    case pushNotifications = "push notifications key"
    case deviceCheck = "DeviceCheck key"
    case signInWithApple = "Sign in with Apple key"
    case media = "Media Services key"
    case appleTVFeed = "Apple TV feed key"
    case weatherKit = "WeatherKit key"
    case maps = "Maps key"
    case appleAds = "Apple Ads key"
    case appleBusiness = "Apple Business or School key"
}

/// An identifier from the configuration, under its name there. A caller chooses none of them.
public enum ServiceIdentifier: String, CaseIterable, Sendable {
    case teamID = "teamId"
    case issuerID = "issuerId"
    case clientID = "clientId"
    case serviceID = "serviceId"
}

/// A member of a request that a caller may choose, within the rules of the client.
public enum ServiceChoice: String, CaseIterable, Sendable {
    case scopes, origins, subject, parameters, lifetime
}

/// How long tokens are valid, in seconds.
public struct ServiceLifetime: Hashable, Sendable {
    /// From the time of the request, unless the configuration has another.
    public let standard: Int64
    /// The most that Apple accepts from `iat` to `exp`.
    public let limit: Int64

    public init(standard: Int64, limit: Int64) {
        self.standard = standard
        self.limit = limit
    }

    /// The clocks of Apple's servers may be behind, and they refuse a token whose `iat` lies in the future.
    public static let allowance: Int64 = 60

    /// - Parameters:
    ///   - seconds: the wanted lifetime; nil for the standard one.
    ///   - limit: in place of the profile's own.
    public func times(at now: Timestamp, seconds: Int64? = nil, limit: Int64? = nil) -> ServiceTokenTimes {
        let issuedAt = now.seconds - Self.allowance
        let latest = issuedAt + min(limit ?? self.limit, self.limit)
        return ServiceTokenTimes(issuedAt: issuedAt, expiresAt: min(now.seconds + (seconds ?? standard), latest))
    }
}

/// The claims `iat` and `exp`, in seconds since 1970.
public struct ServiceTokenTimes: Hashable, Sendable {
    public let issuedAt: Int64
    public let expiresAt: Int64

    public init(issuedAt: Int64, expiresAt: Int64) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

/// Whether Apple wants the same token in several requests.
public enum ServiceTokenReuse: Hashable, Sendable {
    /// Each request gets a token of its own.
    case never
    /// The same token until this many seconds after its signature, or until a minute before it expires.
    case forSeconds(Int64)
    /// The same token until a minute before it expires.
    case untilExpiry
}

/// The values for one token. The identifiers come from the configuration, the times and the nonce from the gateway, and
/// the choices from the request or, without one, from the configuration.
public struct ServiceTokenOrder: Sendable {
    public let identifiers: [ServiceIdentifier: String]
    public let keyID: String
    public let issuedAt: Timestamp
    public let nonce: Nonce
    public let choices: ServiceTokenChoices
    /// In seconds; nil for the profile's standard.
    public let lifetime: Int64?

    public init(
        identifiers: [ServiceIdentifier: String], keyID: String, issuedAt: Timestamp, nonce: Nonce,
        choices: ServiceTokenChoices, lifetime: Int64?
    ) {
        self.identifiers = identifiers
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.nonce = nonce
        self.choices = choices
        self.lifetime = lifetime
    }
}

/// What a caller may choose about a token.
public struct ServiceTokenChoices: Hashable, Sendable {
    public var scopes: [String]
    public var origins: [String]
    public var subject: String?
    /// The query of a signed Maps snapshot URL.
    public var parameters: String?

    public init(
        scopes: [String] = [], origins: [String] = [], subject: String? = nil, parameters: String? = nil
    ) {
        self.scopes = scopes
        self.origins = origins
        self.subject = subject
        self.parameters = parameters
    }
}
