public import KeyLifecycle

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

public struct ClientFindings: Sendable {
    public var name: String
    public var isAdministrator: Bool
    /// The client's credentials, such as `token 1a2b3c4d, until 2027-01-01T00:00:00.000Z`.
    public var proofs: [String]
    /// The signatures that the client may get, one line per rule. Empty if it may get none.
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
    /// The configuration has no audit log.
    case off
    /// The log could not be read. The sentence says why.
    case unread(String)
    /// `--no-log-verification` was given.
    case unverified(anchor: ComplianceReport.Anchor?)
    case verified(Verified)

    public struct Verified: Sendable {
        /// The checkpoint up to which the log was verified.
        public var anchor: ComplianceReport.Anchor?
        public var entries: Int
        public var faultCount: Int
        /// Only the first ones.
        public var faults: [String]
        /// The number of compared checkpoints from the file of `audit.checkpoints`.
        public var externalChecked: Int
        public var secondPlace: CheckpointLocation

        public init(
            anchor: ComplianceReport.Anchor?, entries: Int, faultCount: Int, faults: [String], externalChecked: Int,
            secondPlace: CheckpointLocation
        ) {
            self.anchor = anchor
            self.entries = entries
            self.faultCount = faultCount
            self.faults = faults
            self.externalChecked = externalChecked
            self.secondPlace = secondPlace
        }
    }

    /// The location of the log's checkpoints.
    public enum CheckpointLocation: Sendable, Equatable {
        /// In a file on another file system than the log. One disk may hold both.
        case otherFileSystem
        /// Only on the file system of the log.
        case sameFileSystem
        /// In a file that is lost when the machine or the container restarts.
        ///
        /// - Parameter kind: The type of the file system, such as `tmpfs`.
        case passing(kind: String)
        /// In no file that counts, but sent to a destination that this machine cannot read.
        ///
        /// - Parameter place: The destination, such as `syslog`.
        case sent(place: String)
    }

    public var anchor: ComplianceReport.Anchor? {
        switch self {
        case .off, .unread: nil
        case .unverified(let anchor): anchor
        case .verified(let verified): verified.anchor
        }
    }
}
