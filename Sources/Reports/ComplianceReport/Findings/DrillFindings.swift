import AuditKit
public import KeyLifecycle
public import SigningKit
public import StrictJSON

public enum DrillFindings: Sendable {
    /// The configuration names no directory for drill records.
    case none
    /// The audit log, which proves the records, was not verified. The sentence says why.
    case unverified(String)
    case read(DrillEvidence)
}

public struct DrillEvidence: Sendable {
    /// The directory of the records.
    public var directory: String
    public var records: [DrillFinding]
    /// The entries about drills in the verified audit log, in the order of the log.
    public var logged: [LoggedDrill]
    /// The drills of the other gateways of a fleet, in the order in which they were recorded. `entry` is the index of the
    /// entry, in the verified log of the fleet, that proves the result.
    public var shared: [(drill: FleetDrill, entry: Int)] = []
    /// One sentence for each file that is not a drill record.
    public var complaints: [String]

    public init(directory: String, records: [DrillFinding], logged: [LoggedDrill], complaints: [String]) {
        (self.directory, self.records, self.logged, self.complaints) = (directory, records, logged, complaints)
    }
}

/// The members of a drill record that the report needs.
public struct DrillFinding: Sendable {
    public static let scenarios = [
        "scheduled-rotation", "compromise", "token-loss", "wrong-key-imported", "operator-mistake",
        "restore-from-backup-token",
    ]

    private let record: Record
    public let file: String
    /// SHA-256 of the file, in Base64url.
    public var digest: String
    /// A sentence that says why the evidence next to the record is not valid.
    public var fault: String?

    /// Ignores the members that the report does not need.
    public init(from value: JSONValue, file: String, digest: String) throws(JSONReadError) {
        record = try value.decode()
        guard record.version == 1 else {
            throw JSONReadError(.invalid("is \(record.version); only version 1 is supported"))
        }
        self.file = file
        self.digest = digest
    }

    public var id: String { record.id }
    public var scenario: String { record.scenario }
    public var ended: Timestamp { record.ended }
    public var isPassed: Bool { record.verdict == "passed" }
    /// Whether the drill made its own gateway, with keys in a software token.
    public var isTemporary: Bool { record.gateway.throwAway }
    /// The signed note that covers the drill's entries in its gateway's log.
    public var checkpoint: String? { record.audit?.checkpoint }

    private struct Record: Decodable {
        struct Gateway: Decodable {
            let throwAway: Bool
        }

        struct Audit: Decodable {
            let checkpoint: String
        }

        let version: Int
        let id, scenario, verdict: String
        let ended: Timestamp
        let gateway: Gateway
        let audit: Audit?
    }
}

/// An audit log entry about a drill.
public struct LoggedDrill: Sendable, Equatable {
    /// The entry's index.
    public let entry: Int
    public let id: String
    /// SHA-256 of the record's file, in Base64url.
    public let digest: String
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
