public import SigningKit

/// Everything that a log tells.
public enum AuditEvent: Sendable {
    /// A signature that was released.
    case signature(SignatureRecord)
    /// A request that got none.
    case refusal(RefusalRecord)
    /// Requests that were turned away at the door, counted for each client and minute so that a flood of them cannot fill
    /// the disk.
    case refusals(RefusalCounts)

    /// The gateway began to serve.
    ///
    /// - Parameter configuration: SHA-256 of its file, 32 bytes.
    case start(configuration: [UInt8], version: String)
    case stop
    case reload(ReloadRecord)
    case client(name: String, change: ChangeKind, actor: String)
    case key(KeyRecord)
    case token(TokenRecord)
    /// - Parameter register: what the register holds since, as `name` and `value`.
    case life(LifeRecord, register: (name: String, value: [UInt8]))

    /// Somebody made a compliance report or rehearsed something, and has a document of it.
    case report(ReportRecord)
    /// Somebody had the gateway check the log up to `size`.
    case verification(size: Int, isIntact: Bool, actor: String)
    /// Entries `from` to before `to` were written to an archive and taken out.
    case archive(from: Int, to: Int, actor: String)
    /// The log could not be written for a while; so many requests were refused for it, and so many events were not
    /// recorded because too many were waiting.
    case outage(milliseconds: Int, reason: String, refused: Int, lostEvents: Int)
    /// The wall clock was set.
    ///
    /// - Parameters:
    ///   - before: what it would show otherwise, or the time of the entry before.
    ///   - milliseconds: how far; negative when it was set back.
    case clock(before: Timestamp, milliseconds: Int64)
    /// Nothing happened since the checkpoint before.
    case idle

    /// What entries have as their `kind`.
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
    /// SHA-256 of the file, 32 bytes; nil when it could not be read.
    public var configuration: [UInt8]?
    /// A sentence for each.
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
    /// Base64url of the SHA-256 of its SubjectPublicKeyInfo; nil while there is no key.
    public var fingerprint: [UInt8]?
    /// In one word: `ready`, `degraded`, `down`, `refused`, or `removed` when no configuration names it any more.
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

/// A document about this installation that somebody may show to others.
public struct ReportRecord: Sendable {
    /// `compliance` or `drill`.
    public var subject: String
    public var id: String
    /// SHA-256 of the document's bytes, 32 bytes.
    public var digest: [UInt8]
    /// In one word: `passed` or `failed`.
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
    /// In one word: `lost`, `back` or `pin-refused`.
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
