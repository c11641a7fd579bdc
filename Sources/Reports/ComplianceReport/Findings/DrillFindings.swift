import AuditKit
public import SigningKit

public enum DrillFindings: Sendable {
    /// The configuration names no directory for drill records.
    case none
    /// The audit log, which proves the records, was not verified. The sentence says why.
    case unverified(String)
    case read(DrillEvidence)
}

/// The drill records, and the entries about drills in the verified audit log.
public struct DrillEvidence: Sendable {
    public var directory: String
    public var records: [DrillFinding]
    /// In the order of the log.
    public var logged: [LoggedDrill]
    /// One sentence for each file that is not a drill record.
    public var complaints: [String]

    public init(directory: String, records: [DrillFinding], logged: [LoggedDrill], complaints: [String]) {
        self.directory = directory
        self.records = records
        self.logged = logged
        self.complaints = complaints
    }
}

/// The members of a drill record that the report needs.
public struct DrillFinding: Sendable {
    public static let scenarios = [
        "scheduled-rotation", "compromise", "token-loss", "wrong-key-imported", "operator-mistake",
        "restore-from-backup-token",
    ]

    public var id: String
    public var scenario: String
    public var ended: Timestamp
    public var isPassed: Bool
    /// Whether the drill made its own gateway, with keys in a software token.
    public var isTemporary: Bool
    /// The signed note that covers the drill's entries in its gateway's log.
    public var checkpoint: String?
    public var file: String
    /// SHA-256 of the file, in Base64url.
    public var digest: String
    /// A sentence that says why the evidence next to the record is not valid.
    public var fault: String?

    public init(
        id: String, scenario: String, ended: Timestamp, isPassed: Bool, isTemporary: Bool, checkpoint: String?,
        file: String, digest: String, fault: String? = nil
    ) {
        self.id = id
        self.scenario = scenario
        self.ended = ended
        self.isPassed = isPassed
        self.isTemporary = isTemporary
        self.checkpoint = checkpoint
        self.file = file
        self.digest = digest
        self.fault = fault
    }
}

/// An audit log entry about a drill.
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

    /// Nil for an entry that is not about a drill.
    public init?(_ body: [UInt8], at index: Int) {
        // Members are in alphabetical order, so this prefix excludes most entries without parsing them.
        guard body.starts(with: #"{"actor":"#.utf8), let fields = EntryFields(body), fields.kind == "report",
            fields.text("subject") == "drill", let id = fields.text("id"), let digest = fields.text("digest")
        else { return nil }
        self.init(entry: index, id: id, digest: digest, isPassed: fields.text("outcome") == "passed")
    }
}
