internal import AuditKit
public import SigningKit

public enum DrillFindings: Sendable {
    /// The configuration names no directory for records.
    case none
    /// The audit log that proves the records was not verified; a sentence says why.
    case unverified(String)
    case read(DrillEvidence)
}

/// The records of drills, and what the verified audit log says of them.
public struct DrillEvidence: Sendable {
    public var directory: String
    public var records: [DrillFinding]
    /// In the order of their entries.
    public var logged: [LoggedDrill]
    /// A sentence for each file that is not a record.
    public var complaints: [String]

    public init(directory: String, records: [DrillFinding], logged: [LoggedDrill], complaints: [String]) {
        self.directory = directory
        self.records = records
        self.logged = logged
        self.complaints = complaints
    }
}

/// The head of a drill's record.
public struct DrillFinding: Sendable {
    /// All that there are.
    public static let scenarios = [
        "scheduled-rotation", "compromise", "token-loss", "wrong-key-imported", "operator-mistake",
        "restore-from-backup-token",
    ]

    public var id: String
    public var scenario: String
    public var ended: Timestamp
    public var isPassed: Bool
    /// Whether the drill made its own gateway, with keys in a software token.
    public var isThrowAway: Bool
    /// The signed note that covers the drill's entries in the log of its gateway.
    public var checkpoint: String?
    public var file: String
    /// SHA-256 of the file, in Base64url.
    public var digest: String
    /// Why the evidence beside the record does not hold; a sentence.
    public var fault: String?

    public init(
        id: String, scenario: String, ended: Timestamp, isPassed: Bool, isThrowAway: Bool, checkpoint: String?,
        file: String, digest: String, fault: String? = nil
    ) {
        self.id = id
        self.scenario = scenario
        self.ended = ended
        self.isPassed = isPassed
        self.isThrowAway = isThrowAway
        self.checkpoint = checkpoint
        self.file = file
        self.digest = digest
        self.fault = fault
    }
}

/// An entry of the audit log that says that a drill was held.
public struct LoggedDrill: Sendable, Equatable {
    /// The entry's index.
    public var entry: Int
    public var id: String
    /// SHA-256 of the record's file, in Base64url.
    public var digest: String
    public var isPassed: Bool

    public init(entry: Int, id: String, digest: String, isPassed: Bool) {
        self.entry = entry
        self.id = id
        self.digest = digest
        self.isPassed = isPassed
    }

    /// Nil for an entry about something else.
    public init?(_ body: [UInt8], at index: Int) {
        // Members are in alphabetical order; most entries of a log are ruled out without reading more of them.
        guard body.starts(with: #"{"actor":"#.utf8), let fields = EntryFields(body), fields.kind == "report",
            fields.text("subject") == "drill", let id = fields.text("id"), let digest = fields.text("digest")
        else { return nil }
        self.init(entry: index, id: id, digest: digest, isPassed: fields.text("outcome") == "passed")
    }
}
