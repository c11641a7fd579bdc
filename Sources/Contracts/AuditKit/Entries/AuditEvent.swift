public import Crypto
public import SigningKit

/// An entry as the store holds it: canonical JSON (RFC 8785), the input of the Merkle tree's leaf hash.
public struct AuditEntry: Hashable, Sendable {
    /// The version of the entry format in `docs/audit-format.md`.
    public static let version = 1

    public let bytes: [UInt8]

    /// - Parameter time: when the event happened.
    public init(_ event: AuditEvent, at time: Timestamp) {
        bytes = EntryWriter(time).bytes(of: event)
    }
}

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
    /// - Parameters:
    ///   - configuration: SHA-256 of the configuration file, 32 bytes; nil when it could not be read.
    ///   - changes: one sentence for each change.
    case reload(outcome: ReloadResult, configuration: [UInt8]?, changes: [String], actor: String)
    case client(name: String, change: ChangeKind, actor: String)
    case key(KeyRecord)
    /// - Parameter event: `lost`, `back` or `pin-refused`.
    case token(event: String, label: String?, serial: String?, reason: String?)
    /// - Parameter register: the register's new content.
    case life(KeyLifecycleEntry, register: (name: String, value: [UInt8]))

    /// The actor made a compliance report or ran a drill, and has a document about it.
    ///
    /// - Parameters:
    ///   - subject: `compliance` or `drill`.
    ///   - digest: SHA-256 of the document's bytes, 32 bytes.
    case report(subject: String, id: String, digest: [UInt8], hasPassed: Bool, actor: String)
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

public enum ReloadResult: String, Sendable {
    case applied, unchanged, refused
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

/// A released signature. It holds no payload, no signature, and only a keyed hash of the user.
public struct SignatureRecord: Sendable {
    public var client: String
    public var app: String
    public var feature: String
    public var keyID: String
    /// Base64url of the SHA-256 of the key's SubjectPublicKeyInfo.
    public var fingerprint: [UInt8]
    /// The serial number of the token that signed; nil for a key in a file.
    public var tokenSerial: String?
    public var subject: OfferSubject
    /// A keyed hash, see `UserHash`; nil if the request names no user.
    public var user: [UInt8]?
    /// SHA-256 of the signing input.
    public var digest: SHA256Digest
    public var nonce: Nonce
    public var requestID: String
    /// Position in a batch, from 0; nil for a single request.
    public var item: Int?
    /// Microseconds from the call of the key to the verified signature.
    public var keyMicroseconds: Int
    /// Microseconds from the request's arrival to the creation of this record.
    public var requestMicroseconds: Int

    public init(
        client: String, app: String, feature: String, keyID: String, fingerprint: [UInt8], tokenSerial: String?,
        subject: OfferSubject, user: [UInt8]?, digest: SHA256Digest, nonce: Nonce, requestID: String, item: Int?,
        keyMicroseconds: Int, requestMicroseconds: Int
    ) {
        self.client = client
        self.app = app
        self.feature = feature
        self.keyID = keyID
        self.fingerprint = fingerprint
        self.tokenSerial = tokenSerial
        self.subject = subject
        self.user = user
        self.digest = digest
        self.nonce = nonce
        self.requestID = requestID
        self.item = item
        self.keyMicroseconds = keyMicroseconds
        self.requestMicroseconds = requestMicroseconds
    }
}

/// A request of a known client that got no signature.
public struct RefusalRecord: Sendable {
    public var client: String
    /// What the client asked for. Only configured names are recorded: the log holds no name that a caller made up.
    public var app: String?
    public var feature: String?
    public var keyID: String?
    /// The problem type, such as `invalid-request`.
    public var reason: String
    public var status: Int
    public var requestID: String
    /// Position in a batch, from 0.
    public var item: Int?

    public init(
        client: String, app: String? = nil, feature: String? = nil, keyID: String? = nil,
        reason: String, status: Int, requestID: String, item: Int? = nil
    ) {
        self.client = client
        self.app = app
        self.feature = feature
        self.keyID = keyID
        self.reason = reason
        self.status = status
        self.requestID = requestID
        self.item = item
    }
}

/// The refused requests of one client in one minute that are counted instead of recorded.
public struct RefusalCounts: Sendable {
    /// Nil for unauthenticated callers.
    public var client: String?
    /// The start of the minute.
    public var minute: Timestamp
    /// Counts by problem type, such as `forbidden`.
    public var counts: [String: Int]

    public init(client: String?, minute: Timestamp, counts: [String: Int]) {
        self.client = client
        self.minute = minute
        self.counts = counts
    }
}

/// A lifecycle event of a key. The register holds the state that results from it.
public struct KeyLifecycleEntry: Sendable {
    public enum Event: String, Sendable {
        /// The key changed state, or a provisioning job succeeded.
        case changed
        /// The key signed a proof of possession on request.
        case proved
        case proposed, approved, rejected
        /// A provisioning job began or failed.
        case begun, failed
        /// The administrator client reported the provisioning job as done. The gateway has not yet confirmed it.
        case reported
    }

    public var event: Event
    /// The requested action: `activate`, `import` and so on.
    public var action: String
    public var issuerID: String
    public var keyID: String
    public var actor: String
    /// The second administrator, if two are required.
    public var approver: String?
    public var reason: String?
    public var from: String?
    public var to: String?
    public var retireAt: Timestamp?
    /// `sha256:` and hexadecimal digits.
    public var fingerprint: String?
    /// The ID of a proposal or of a provisioning job.
    public var id: String?
    public var evidence: [String: String]

    public init(
        _ event: Event, action: String, issuerID: String, keyID: String, actor: String, approver: String? = nil,
        reason: String? = nil, from: String? = nil, to: String? = nil, retireAt: Timestamp? = nil,
        fingerprint: String? = nil, id: String? = nil, evidence: [String: String] = [:]
    ) {
        self.event = event
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.actor = actor
        self.approver = approver
        self.reason = reason
        self.from = from
        self.to = to
        self.retireAt = retireAt
        self.fingerprint = fingerprint
        self.id = id
        self.evidence = evidence
    }
}
