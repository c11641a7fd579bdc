public import SigningGateway
public import SigningKit

/// What the register of key life says besides the keys' records.
public enum RegisterFindings: Sendable {
    /// - Parameters:
    ///   - differences: from the configuration, a sentence each.
    ///   - ceremonies: that began and did not end.
    ///   - proposals: that wait for a second administrator.
    case known(differences: [String], ceremonies: [KeyCeremony], proposals: [KeyProposal])
    /// A sentence.
    case unknown(String)
}

/// A client of the configuration.
public struct ClientFindings: Sendable {
    public var name: String
    public var isAdministrator: Bool
    /// How it shows who it is, such as `token 1a2b3c4d, until 2027-01-01T00:00:00.000Z`.
    public var proofs: [String]
    /// What it may have, a line for each rule; none for one that may have nothing.
    public var reach: [String]

    public init(name: String, isAdministrator: Bool, proofs: [String], reach: [String]) {
        self.name = name
        self.isAdministrator = isAdministrator
        self.proofs = proofs
        self.reach = reach
    }
}

public struct ListenerFindings: Sendable {
    public enum Protection: Sendable {
        /// - Parameters:
        ///   - version: the lowest, such as `1.2`.
        ///   - clientCertificates: `none`, `optional` or `required`.
        case tls(version: String, clientCertificates: String)
        /// Somebody in front of it terminates TLS.
        case proxy
        /// Only processes of this machine can reach it.
        case local
        /// In the clear, for other machines.
        case none
    }

    /// `public`, `admin` or `metrics`.
    public var role: String
    public var address: String
    public var protection: Protection

    public init(role: String, address: String, protection: Protection) {
        self.role = role
        self.address = address
        self.protection = protection
    }
}

public enum AuditFindings: Sendable {
    /// The configuration wants no record.
    case off
    /// A sentence.
    case unread(String)
    /// It was not verified, because nobody wanted that.
    case unverified(anchor: ComplianceReport.Anchor?)
    case verified(Verified)

    public struct Verified: Sendable {
        /// Of what was verified.
        public var anchor: ComplianceReport.Anchor?
        public var entries: Int
        public var faultCount: Int
        /// The first of them.
        public var faults: [String]
        /// Checkpoints from a second place that were compared.
        public var externalChecked: Int

        public init(
            anchor: ComplianceReport.Anchor?, entries: Int, faultCount: Int, faults: [String], externalChecked: Int
        ) {
            self.anchor = anchor
            self.entries = entries
            self.faultCount = faultCount
            self.faults = faults
            self.externalChecked = externalChecked
        }
    }

    public var anchor: ComplianceReport.Anchor? {
        switch self {
        case .off, .unread: nil
        case .unverified(let anchor): anchor
        case .verified(let verified): verified.anchor
        }
    }
}

public enum DrillFindings: Sendable {
    /// There is no directory for their records.
    case none
    /// - Parameter complaints: about files that are no records, a sentence each.
    case read(directory: String, [DrillFinding], complaints: [String])
}

/// The head of a drill's record.
public struct DrillFinding: Sendable {
    /// Those that there are.
    public static let scenarios = [
        "scheduled-rotation", "compromise", "token-loss", "wrong-key-imported", "operator-mistake",
        "restore-from-backup-token",
    ]

    public var id: String
    public var scenario: String
    public var ended: Timestamp
    public var isPassed: Bool
    public var file: String

    public init(id: String, scenario: String, ended: Timestamp, isPassed: Bool, file: String) {
        self.id = id
        self.scenario = scenario
        self.ended = ended
        self.isPassed = isPassed
        self.file = file
    }
}
