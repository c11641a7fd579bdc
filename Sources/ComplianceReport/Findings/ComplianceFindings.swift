public import SigningGateway
public import SigningKit

/// Everything that was found out about an installation, before anybody judges it.
public struct ComplianceFindings: Sendable {
    public struct Installation: Sendable {
        public var host: String
        public var version: String
        public var configuration: String
        /// SHA-256 of the file, in hexadecimal digits.
        public var configurationDigest: String
        /// The user who made the report, such as `uid 0`.
        public var actor: String
        /// Whether who asked for the report takes keys in software for good, as for a staging account.
        public var acceptsSoftware: Bool

        public init(
            host: String, version: String, configuration: String, configurationDigest: String, actor: String,
            acceptsSoftware: Bool
        ) {
            self.host = host
            self.version = version
            self.configuration = configuration
            self.configurationDigest = configurationDigest
            self.actor = actor
            self.acceptsSoftware = acceptsSoftware
        }
    }

    public var installation: Installation
    public var accounts: [AccountFindings]
    public var register: RegisterFindings
    public var clients: [ClientFindings]
    /// Whether everybody who reaches the public listener may have everything.
    public var allowsAnonymous: Bool
    public var listeners: [ListenerFindings]
    public var audit: AuditFindings
    public var drills: DrillFindings
    /// Whether the verification of a signature that is known beforehand came out right.
    public var knowsAnswer: Bool

    public init(
        installation: Installation, accounts: [AccountFindings], register: RegisterFindings,
        clients: [ClientFindings] = [], allowsAnonymous: Bool = false, listeners: [ListenerFindings] = [],
        audit: AuditFindings, drills: DrillFindings, knowsAnswer: Bool = KnownAnswer.holds
    ) {
        self.installation = installation
        self.accounts = accounts
        self.register = register
        self.clients = clients
        self.allowsAnonymous = allowsAnonymous
        self.listeners = listeners
        self.audit = audit
        self.drills = drills
        self.knowsAnswer = knowsAnswer
    }
}

public struct AccountFindings: Sendable {
    public var issuerID: String
    public var hasDualControl: Bool
    public var keys: [KeyFindings]

    public init(issuerID: String, hasDualControl: Bool, keys: [KeyFindings]) {
        self.issuerID = issuerID
        self.hasDualControl = hasDualControl
        self.keys = keys
    }
}

public struct KeyFindings: Sendable {
    public enum Inspection: Sendable {
        case seen(KeyInspection, at: Timestamp)
        /// The token, the key or the login was not to be had; a sentence.
        case unseen(KeyError)
        /// The backend has no way to look at its keys.
        case unsupported
    }

    /// What came of having the key sign a proof of possession, and verifying it.
    public enum Proof: Sendable {
        case valid(at: Timestamp)
        /// There was a signature, and it is not by this key.
        case wrong
        case unavailable(String)
    }

    public var keyID: String
    /// Without what leads to a secret.
    public var uri: String
    /// What the configuration says that the key must be.
    public var pinned: PublicKeyFingerprint?
    /// In days.
    public var cryptoperiod: Int
    /// What the configuration says; the register knows better.
    public var provenance: KeyLifeRecord.Provenance
    public var inspection: Inspection
    public var proof: Proof
    /// Nil where the register does not know it or could not be asked.
    public var life: KeyLifeRecord?

    public init(
        keyID: String, uri: String, pinned: PublicKeyFingerprint?, cryptoperiod: Int,
        provenance: KeyLifeRecord.Provenance, inspection: Inspection, proof: Proof, life: KeyLifeRecord?
    ) {
        self.keyID = keyID
        self.uri = uri
        self.pinned = pinned
        self.cryptoperiod = cryptoperiod
        self.provenance = provenance
        self.inspection = inspection
        self.proof = proof
        self.life = life
    }

    var seen: KeyInspection? { if case .seen(let inspection, _) = inspection { inspection } else { nil } }

    /// The register's word before the configuration's.
    var knownProvenance: KeyLifeRecord.Provenance {
        if let known = life?.provenance, known != .unknown { return known }
        return provenance
    }
}
