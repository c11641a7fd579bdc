public import KeyLifecycle
public import SigningKit

/// The facts about an installation, before `ComplianceReport` judges them.
public struct ComplianceFindings: Sendable {
    /// The host, the version, the configuration, and the user that made the report.
    public var installation: [ComplianceReport.Fact]
    /// Whether the report accepts keys in software (`--accept-software`), as for a staging account.
    public var acceptsSoftware: Bool
    public var accounts: [AccountFindings]
    public var register: RegisterFindings
    public var clients: [ClientFindings]
    /// Whether anonymous callers of the public listener may get every signature.
    public var allowsAnonymous: Bool
    public var listeners: [ListenerFindings]
    public var signers: SignersFindings
    public var audit: AuditFindings
    public var drills: DrillFindings
    public var knowsAnswer = KnownAnswer.holds

    public init(
        installation: [ComplianceReport.Fact], acceptsSoftware: Bool, accounts: [AccountFindings],
        register: RegisterFindings, clients: [ClientFindings], allowsAnonymous: Bool, listeners: [ListenerFindings],
        signers: SignersFindings, audit: AuditFindings, drills: DrillFindings
    ) {
        self.installation = installation
        self.acceptsSoftware = acceptsSoftware
        self.accounts = accounts
        self.register = register
        self.clients = clients
        self.allowsAnonymous = allowsAnonymous
        self.listeners = listeners
        self.signers = signers
        self.audit = audit
        self.drills = drills
    }
}

public typealias AccountFindings = (issuerID: String, hasDualControl: Bool, keys: [KeyFindings])

/// `proofs` are the client's credentials, such as `token 1a2b3c4d, until 2027-01-01T00:00:00.000Z`. `reach` has the
/// signatures that the client may get, one line per rule; it is empty if the client may get none.
public typealias ClientFindings = (name: String, isAdministrator: Bool, proofs: [String], reach: [String])

/// The role is `public`, `admin` or `metrics`.
public typealias ListenerFindings = (role: String, address: String, protection: ListenerProtection)

public enum ListenerProtection: Sendable {
    /// - Parameters:
    ///   - version: The lowest accepted version, such as `1.2`.
    ///   - clientCertificates: `none`, `optional` or `required`.
    case tls(version: String, clientCertificates: String)
    /// A proxy in front of the listener terminates TLS.
    case proxy
    /// Plain, and only processes of this machine can reach the listener.
    case local
    /// Plain, and other machines can reach the listener.
    case none
}

/// What the register of key life contains besides the keys' records.
public enum RegisterFindings: Sendable {
    /// - Parameters:
    ///   - differences: Differences from the configuration, one sentence each.
    ///   - jobs: The jobs that began and did not end.
    ///   - proposals: The proposals that wait for a second administrator.
    case known(differences: [String], jobs: [ProvisioningJob], proposals: [KeyProposal])
    /// There is no register, or it could not be read. The sentence says why.
    case unknown(String)
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
    public var inspection = Inspection.unsupported
    public var proof = Proof.unavailable("It was not inspected.")
    /// The further places of the key, in order.
    public var replicas: [ReplicaFindings] = []
    /// Nil if the register has no record of the key or could not be read.
    public var life: KeyLifecycleRecord?

    public init(
        keyID: String, uri: String, pinned: PublicKeyFingerprint?, cryptoperiod: Int, provenance: KeyProvenance,
        life: KeyLifecycleRecord?
    ) {
        self.keyID = keyID
        self.uri = uri
        self.pinned = pinned
        self.cryptoperiod = cryptoperiod
        self.provenance = provenance
        self.life = life
    }

    /// The same key at one of its further places.
    func at(_ replica: ReplicaFindings) -> KeyFindings {
        var key = self
        (key.uri, key.inspection, key.proof, key.replicas) = (replica.uri, replica.inspection, replica.proof, [])
        return key
    }

    var seen: KeyInspection? { if case .seen(let inspection, _) = inspection { inspection } else { nil } }

    /// The provenance in the register, or else the configured one.
    public var knownProvenance: KeyProvenance {
        if let known = life?.provenance, known != .unknown { return known }
        return provenance
    }
}

/// The findings about a key at one of its further places.
public struct ReplicaFindings: Sendable {
    /// Without the attributes that lead to a secret.
    public var uri: String
    public var inspection = KeyFindings.Inspection.unsupported
    public var proof = KeyFindings.Proof.unavailable("It was not inspected.")

    public init(uri: String) {
        self.uri = uri
    }
}
