public import SigningGateway

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
        /// Checkpoints from the file of `audit.checkpoints` that were compared.
        public var externalChecked: Int
        public var secondPlace: SecondPlace

        public init(
            anchor: ComplianceReport.Anchor?, entries: Int, faultCount: Int, faults: [String], externalChecked: Int,
            secondPlace: SecondPlace
        ) {
            self.anchor = anchor
            self.entries = entries
            self.faultCount = faultCount
            self.faults = faults
            self.externalChecked = externalChecked
            self.secondPlace = secondPlace
        }
    }

    /// Where the checkpoints of the log are kept.
    public enum SecondPlace: Sendable, Equatable {
        /// In a file on another file system than the log. One disk may hold both.
        case otherFileSystem
        /// Nowhere but on the file system of the log.
        case sameFileSystem
        /// In a file that is gone when the machine or the container is started anew.
        ///
        /// - Parameter kind: of the file system, such as `tmpfs`.
        case passing(kind: String)
        /// Not in a file that counts, and sent to a place that this machine cannot read.
        ///
        /// - Parameter place: such as `syslog`.
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
