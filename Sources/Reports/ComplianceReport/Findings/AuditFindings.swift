public enum AuditFindings: Sendable {
    /// The configuration has no audit log.
    case off
    /// The log could not be read. The sentence says why.
    case unread(String)
    /// `--no-log-verification` was given.
    case unverified(anchor: ComplianceReport.Anchor?)
    case verified(Verified)

    /// - `anchor`: The checkpoint up to which the log was verified.
    /// - `faults`: Only the first ones.
    /// - `externalChecked`: The number of compared checkpoints from the file of `audit.checkpoints`.
    public typealias Verified = (
        anchor: ComplianceReport.Anchor?, entries: Int, faultCount: Int, faults: [String], externalChecked: Int,
        secondPlace: CheckpointLocation
    )

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
