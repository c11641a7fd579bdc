public import SigningKit

/// What a gateway is to serve: settings that have been read and checked, from wherever they come.
public struct GatewayPlan: Sendable {
    public var accounts: [AccountPlan]
    public var verification: VerificationMode
    /// By scheme; a backend that is not named has its defaults.
    public var backendSettings: [String: KeyBackendSettings]
    public var clients: [ClientPlan]
    /// Between two proofs of an idle key.
    public var proofInterval: Duration
    /// Whether a caller that proves nothing may have everything. Only for listeners that no stranger reaches.
    public var allowsAnonymous: Bool

    public init(
        accounts: [AccountPlan], verification: VerificationMode = .always,
        backendSettings: [String: KeyBackendSettings] = [:], clients: [ClientPlan] = [], allowsAnonymous: Bool = false,
        proofInterval: Duration = .seconds(10)
    ) {
        self.proofInterval = proofInterval
        self.accounts = accounts
        self.verification = verification
        self.backendSettings = backendSettings
        self.clients = clients
        self.allowsAnonymous = allowsAnonymous
    }
}

/// An account in App Store Connect: its apps, and the keys that sign for all of them.
public struct AccountPlan: Sendable {
    public var issuerID: String
    public var apps: [AppPlan]
    public var keys: [KeyPlan]
    /// The ID of the key that signs when a request names none.
    public var activeKeyID: String
    /// Whether what gives a key power, or takes it for good, needs two administrators.
    public var hasDualControl: Bool
    /// Whether `operator`, who may be anybody with root on the machine, counts as an administrator for that.
    public var countsOperator: Bool
    /// How long what one of them proposed waits for the other.
    public var proposalLifetime: Duration

    public init(
        issuerID: String, apps: [AppPlan], keys: [KeyPlan], activeKeyID: String, hasDualControl: Bool = false,
        countsOperator: Bool = true, proposalLifetime: Duration = .seconds(86_400)
    ) {
        self.hasDualControl = hasDualControl
        self.countsOperator = countsOperator
        self.proposalLifetime = proposalLifetime
        self.issuerID = issuerID
        self.apps = apps
        self.keys = keys
        self.activeKeyID = activeKeyID
    }
}

public struct AppPlan: Sendable {
    public var bundleID: String
    /// The IDs of the features that the app may use.
    public var features: [String]

    public init(bundleID: String, features: [String]) {
        self.bundleID = bundleID
        self.features = features
    }
}

public struct KeyPlan: Sendable {
    public var keyID: String
    public var uri: KeyURI
    /// The fingerprint that the key must have, or nil where none is pinned.
    public var pinned: PublicKeyFingerprint?
    /// The public key's X9.63 point of 65 bytes, for a token that holds neither a public key nor a certificate.
    public var publicKey: [UInt8]?
    /// For how many days the key is meant to be active, from its activation on.
    public var cryptoperiod: Int
    /// How the key came into its token, as far as the configuration says; the register may know better.
    public var provenance: KeyLifeRecord.Provenance
    /// Where it is configured, for errors.
    public var origin: String

    /// Whether both mean the same key, wherever they are configured.
    func isSameKey(as other: KeyPlan) -> Bool {
        keyID == other.keyID && uri == other.uri && pinned == other.pinned && publicKey == other.publicKey
    }

    public init(
        keyID: String, uri: KeyURI, pinned: PublicKeyFingerprint? = nil, publicKey: [UInt8]? = nil,
        cryptoperiod: Int = 730, provenance: KeyLifeRecord.Provenance = .unknown, origin: String = ""
    ) {
        self.keyID = keyID
        self.uri = uri
        self.pinned = pinned
        self.publicKey = publicKey
        self.cryptoperiod = cryptoperiod
        self.provenance = provenance
        self.origin = origin
    }
}
