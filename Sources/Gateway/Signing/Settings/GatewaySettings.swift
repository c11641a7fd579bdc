public import SigningKit
public import WorkloadIdentities

/// The settings of a gateway, read and checked, from any source.
public struct GatewaySettings: Sendable {
    public var accounts: [AccountSettings]
    public var verification: VerificationMode
    /// By scheme. A backend without an entry has its defaults.
    public var backendSettings: [String: PluginSettings]
    public var clients: [ClientSettings]
    /// The issuers of the clients' identities.
    public var issuers: [IssuerSettings]
    /// The time between two proofs of an idle key.
    public var proofInterval: Duration
    /// Whether a caller without credentials has all rights. Only for listeners that no stranger can reach.
    public var allowsAnonymous: Bool
    /// Nil to open all keys in this process.
    public var signers: SignerCatalog?

    public init(
        accounts: [AccountSettings], verification: VerificationMode = .always,
        backendSettings: [String: PluginSettings] = [:], clients: [ClientSettings] = [],
        issuers: [IssuerSettings] = [], allowsAnonymous: Bool = false,
        proofInterval: Duration = .seconds(10), signers: SignerCatalog? = nil
    ) {
        self.signers = signers
        self.proofInterval = proofInterval
        self.accounts = accounts
        self.verification = verification
        self.backendSettings = backendSettings
        self.clients = clients
        self.issuers = issuers
        self.allowsAnonymous = allowsAnonymous
    }
}

/// Keys of one family, and what they sign for: the apps of an account in App Store Connect, or services of Apple.
public struct AccountSettings: Sendable {
    /// For keys of services, `services/` and the name of the service that has them.
    public var issuerID: String
    public var apps: [AppSettings]
    public var services: [ServiceSettings]
    public var keys: [KeySettings]
    /// The ID of the key that signs requests that name no key.
    public var activeKeyID: String
    /// Whether the actions with `KeyLifecycleAction.requiresDualControl` need two administrators.
    public var hasDualControl: Bool
    /// Whether `operator`, which is any person with root on the machine, counts as one of these administrators.
    public var countsOperator: Bool
    /// How long a proposal waits for the second administrator.
    public var proposalLifetime: Duration

    public init(
        issuerID: String, apps: [AppSettings], services: [ServiceSettings] = [], keys: [KeySettings],
        activeKeyID: String, hasDualControl: Bool = false, countsOperator: Bool = true,
        proposalLifetime: Duration = .seconds(86_400)
    ) {
        self.hasDualControl = hasDualControl
        self.countsOperator = countsOperator
        self.proposalLifetime = proposalLifetime
        self.issuerID = issuerID
        self.apps = apps
        self.services = services
        self.keys = keys
        self.activeKeyID = activeKeyID
    }
}

public struct AppSettings: Sendable {
    public var bundleID: String
    /// The IDs of the features that the app may use.
    public var features: [String]

    public init(bundleID: String, features: [String]) {
        self.bundleID = bundleID
        self.features = features
    }
}

public struct KeySettings: Sendable {
    public var keyID: String
    public var uri: KeyURI
    /// Further places of the same key, in order.
    public var replicas: [KeyURI]
    /// How a request selects one of several places.
    public var selection: KeySelection
    /// The fingerprint that the key must have; nil if none is pinned.
    public var pinned: PublicKeyFingerprint?
    /// The public key's X9.63 point of 65 bytes, for a token that holds neither a public key nor a certificate.
    public var publicKey: [UInt8]?
    /// The planned days of activity, from the activation on.
    public var cryptoperiod: Int
    /// How the key came into its token, according to the configuration. The register may have better information.
    public var provenance: KeyProvenance
    /// Where the key is configured, for error messages.
    public var origin: String

    /// The most further places: so many can be shown in one line, and tried at a start.
    package static let mostReplicas = 7

    /// All places of the key, in order.
    public var uris: [KeyURI] { [uri] + replicas }

    /// Whether both describe the same key. Its places and the origin do not count.
    func isSameKey(as other: KeySettings) -> Bool {
        keyID == other.keyID && pinned == other.pinned && publicKey == other.publicKey
    }

    public init(
        keyID: String, uri: KeyURI, replicas: [KeyURI] = [], selection: KeySelection = .inOrder,
        pinned: PublicKeyFingerprint? = nil, publicKey: [UInt8]? = nil, cryptoperiod: Int = 730,
        provenance: KeyProvenance = .unknown, origin: String = ""
    ) {
        self.keyID = keyID
        self.uri = uri
        self.replicas = replicas
        self.selection = selection
        self.pinned = pinned
        self.publicKey = publicKey
        self.cryptoperiod = cryptoperiod
        self.provenance = provenance
        self.origin = origin
    }
}

/// How a request selects one of several places of a key. Only places that sign take part.
public enum KeySelection: String, CaseIterable, Sendable {
    /// The first place, in the order of the configuration.
    case inOrder
    /// The place with the fewest signatures in progress; at equal numbers, the first of them.
    case leastBusy
}

/// Which signatures are verified before release. A verification costs as much as 2.5 signatures with a key file.
public enum VerificationMode: Hashable, Sendable {
    case always
    /// One of `every` signatures; all of them after a verification failure.
    case sampled(every: Int)
    case off
}
