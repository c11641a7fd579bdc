public import SigningKit

/// The events that the audit log records.
public enum AuditEvent: Sendable {
    case signature(SignatureRecord)
    case refusal(RefusalRecord)
    /// Refused requests, counted for each client and minute instead of recorded, so that a flood cannot fill the disk.
    case refusals(RefusalCounts)

    /// The gateway began to serve.
    ///
    /// - Parameter configuration: SHA-256 of the configuration file, 32 bytes.
    case start(configuration: [UInt8], version: String)
    case stop
    case reload(ReloadRecord)
    case client(name: String, change: ChangeKind, actor: String)
    case key(KeyRecord)
    case token(TokenRecord)
    /// - Parameter register: the register's new content.
    case life(KeyLifecycleEntry, register: (name: String, value: [UInt8]))

    /// The actor made a compliance report or ran a drill, and has a document about it.
    case report(ReportRecord)
    /// The actor had the gateway verify the log up to `size`.
    case verification(size: Int, isIntact: Bool, actor: String)
    /// Entries `from` up to, but not including, `to` were archived and removed from the store.
    case archive(from: Int, to: Int, actor: String)
    /// The log could not be written for a time. The gateway refused `refused` requests because of that. It dropped
    /// `lostEvents` events because too many were waiting.
    case outage(milliseconds: Int, reason: String, refused: Int, lostEvents: Int)
    /// The wall clock was set.
    ///
    /// - Parameters:
    ///   - before: the time that the clock would show otherwise, or the time of the previous entry.
    ///   - milliseconds: the size of the step; negative when the clock was set back.
    case clock(before: Timestamp, milliseconds: Int64)
    /// No event happened since the previous checkpoint.
    case idle

    public static let kinds = [
        "signature", "refusal", "refusals", "start", "stop", "reload", "client", "key", "token", "life", "report",
        "verification", "archive", "outage", "clock", "idle",
    ]
}

public enum ChangeKind: String, Sendable {
    case added, removed, changed
}

public struct ReloadRecord: Sendable {
    public enum Outcome: String, Sendable {
        case applied, unchanged, refused
    }

    public var actor: String
    public var outcome: Outcome
    /// SHA-256 of the configuration file, 32 bytes; nil when it could not be read.
    public var configuration: [UInt8]?
    /// One sentence for each change.
    public var changes: [String]

    public init(actor: String, outcome: Outcome, configuration: [UInt8]?, changes: [String] = []) {
        self.actor = actor
        self.outcome = outcome
        self.configuration = configuration
        self.changes = changes
    }
}

public struct KeyRecord: Sendable {
    public var keyID: String
    /// Base64url of the SHA-256 of the key's SubjectPublicKeyInfo; nil while there is no key.
    public var fingerprint: [UInt8]?
    /// One of `ready`, `degraded`, `down`, `refused`, or `removed` when the configuration no longer names the key.
    public var state: String
    public var reason: String?
    public var tokenSerial: String?

    public init(keyID: String, fingerprint: [UInt8]?, state: String, reason: String?, tokenSerial: String?) {
        self.keyID = keyID
        self.fingerprint = fingerprint
        self.state = state
        self.reason = reason
        self.tokenSerial = tokenSerial
    }
}

/// A document about this installation that its operator may show to others.
public struct ReportRecord: Sendable {
    /// `compliance` or `drill`.
    public var subject: String
    public var id: String
    /// SHA-256 of the document's bytes, 32 bytes.
    public var digest: [UInt8]
    /// `passed` or `failed`.
    public var outcome: String
    public var actor: String

    public init(subject: String, id: String, digest: [UInt8], outcome: String, actor: String) {
        self.subject = subject
        self.id = id
        self.digest = digest
        self.outcome = outcome
        self.actor = actor
    }
}

public struct TokenRecord: Sendable {
    /// `lost`, `back` or `pin-refused`.
    public var event: String
    public var label: String?
    public var serial: String?
    public var reason: String?

    public init(event: String, label: String?, serial: String?, reason: String?) {
        self.event = event
        self.label = label
        self.serial = serial
        self.reason = reason
    }
}
