public import KeyLifecycle
public import SigningKit

/// The facts about an installation, before `ComplianceExaminer` judges them.
public struct ComplianceFindings: Sendable {
    public struct Installation: Sendable {
        public var host: String
        public var version: String
        public var configuration: String
        /// SHA-256 of the file, in hexadecimal digits.
        public var configurationDigest: String
        /// The user that made the report, such as `uid 0`.
        public var actor: String
        /// Whether the report accepts keys in software (`--accept-software`), as for a staging account.
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
    /// Whether anonymous callers of the public listener may get every signature.
    public var allowsAnonymous: Bool
    public var listeners: [ListenerFindings]
    public var audit: AuditFindings
    public var drills: DrillFindings
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
        /// The location, the key or the login was not available. The error's description is a sentence.
        ///
        /// - Parameter checks: the checks that the backend could not make.
        case unseen(KeyError, checks: [ComplianceCheck])
        /// The backend cannot inspect its keys.
        case unsupported
    }

    /// The result of a proof of possession: the key signs, and the signature is verified.
    public enum Proof: Sendable {
        case valid(at: Timestamp)
        /// The signature does not verify with the key's public key.
        case wrong
        case unavailable(String)
    }

    public var keyID: String
    /// Without the attributes that lead to a secret.
    public var uri: String
    /// The fingerprint that the configuration pins.
    public var pinned: PublicKeyFingerprint?
    /// In days.
    public var cryptoperiod: Int
    /// As configured; see `knownProvenance`.
    public var provenance: KeyProvenance
    public var inspection: Inspection
    public var proof: Proof
    /// Nil if the register has no record of the key or could not be read.
    public var life: KeyLifecycleRecord?

    public init(
        keyID: String, uri: String, pinned: PublicKeyFingerprint?, cryptoperiod: Int,
        provenance: KeyProvenance, inspection: Inspection, proof: Proof, life: KeyLifecycleRecord?
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

    /// The provenance in the register, or else the configured one.
    public var knownProvenance: KeyProvenance {
        if let known = life?.provenance, known != .unknown { return known }
        return provenance
    }
}
