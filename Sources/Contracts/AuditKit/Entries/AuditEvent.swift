public import Crypto
public import SigningKit

/// An event that the audit log records: its kind, and the members of its entry except kind, time and version.
public struct AuditEvent: Sendable {
    let kind: String
    let members: [EntryMember]

    private init(_ kind: String, _ members: KeyValuePairs<String, (any EntryValue)?> = [:]) {
        self.kind = kind
        self.members = members.compactMap { name, value in value.map { (name, $0) } }
    }

    public static let kinds = [
        "signature", "refusal", "refusals", "start", "stop", "reload", "client", "key", "token", "life", "report",
        "verification", "archive", "moved", "continued", "outage", "clock", "idle", "handout",
        "checkpoint",
    ]
}

// MARK: Requests

extension AuditEvent {
    /// A released signature. It holds no payload, no signature, and only a keyed hash of the user.
    ///
    /// - Parameters:
    ///   - fingerprint: Base64url of the SHA-256 of the key's SubjectPublicKeyInfo.
    ///   - tokenSerial: the serial number of the token that signed; nil for a key in a file.
    ///   - user: a keyed hash, see `UserHash`; nil if the request names no user.
    ///   - digest: SHA-256 of the signing input.
    ///   - expires: the end of a long-lived token, see `LongLivedToken`; nil for everything else.
    ///   - item: position in a batch, from 0; nil for a single request.
    ///   - keyMicroseconds: from the call of the key to the verified signature.
    ///   - requestMicroseconds: from the request's arrival to the creation of this event.
    public static func signature(
        client: String, app: String, feature: String, keyID: String, fingerprint: [UInt8], tokenSerial: String?,
        subject: OfferSubject, user: [UInt8]?, digest: SHA256Digest, expires: Timestamp? = nil, nonce: Nonce,
        requestID: String, item: Int?,
        keyMicroseconds: Int, requestMicroseconds: Int
    ) -> AuditEvent {
        let took = ["key": keyMicroseconds, "request": requestMicroseconds]
        return AuditEvent(
            "signature",
            [
                "app": app, "client": client, "digest": UnescapedText(base64: Array(digest)), "expires": expires,
                "feature": feature, "fingerprint": UnescapedText(fingerprint), "item": item, "key": keyID,
                "nonce": UnescapedText(nonce.text), "offers": subject.offers, "products": subject.products,
                "requestId": requestID, "tokenSerial": tokenSerial, "took": took,
                "user": user.map { UnescapedText($0) },
            ])
    }

    /// A service token that was given to a client. Several clients may get the same token.
    ///
    /// - Parameters:
    ///   - app: the path of the service, such as `services/push`, as in the entry of the signature.
    ///   - feature: the profile.
    ///   - digest: SHA-256 of the signing input, as in the entry of the signature.
    ///   - expires: as in the entry of the signature.
    public static func handOut(
        client: String, app: String, feature: String, keyID: String, digest: SHA256Digest, expires: Timestamp? = nil,
        requestID: String
    ) -> AuditEvent {
        AuditEvent(
            "handout",
            [
                "app": app, "client": client, "digest": UnescapedText(base64: Array(digest)), "expires": expires,
                "feature": feature, "key": keyID, "requestId": requestID,
            ])
    }

    /// A request of a known client that got no signature.
    ///
    /// - Parameters:
    ///   - app: what the client asked for, as `feature` and `keyID`. Only configured names are recorded: the log holds
    ///     no name that a caller made up.
    ///   - reason: the problem type, such as `invalid-request`.
    ///   - item: position in a batch, from 0.
    public static func refusal(
        client: String, app: String? = nil, feature: String? = nil, keyID: String? = nil, reason: String, status: Int,
        requestID: String, item: Int? = nil
    ) -> AuditEvent {
        AuditEvent(
            "refusal",
            [
                "app": app, "client": client, "feature": feature, "item": item, "key": keyID, "reason": reason,
                "requestId": requestID, "status": status,
            ])
    }

    /// The refused requests of one client in one minute that are counted instead of recorded, so that a flood cannot
    /// fill the disk.
    ///
    /// - Parameters:
    ///   - client: nil for unauthenticated callers.
    ///   - minute: the start of the minute.
    ///   - counts: by problem type, such as `forbidden`.
    public static func refusals(client: String?, minute: Timestamp, counts: [String: Int]) -> AuditEvent {
        AuditEvent("refusals", ["client": client, "counts": counts, "minute": minute])
    }
}

// MARK: The gateway

extension AuditEvent {
    /// The gateway began to serve.
    ///
    /// - Parameter configuration: SHA-256 of the configuration file, 32 bytes.
    public static func start(configuration: [UInt8], version: String) -> AuditEvent {
        AuditEvent("start", ["configuration": UnescapedText(base64: configuration), "version": version])
    }

    public static let stop = AuditEvent("stop")

    /// - Parameters:
    ///   - configuration: SHA-256 of the configuration file, 32 bytes; nil when it could not be read.
    ///   - changes: one sentence for each change.
    public static func reload(
        outcome: ReloadResult, configuration: [UInt8]?, changes: [String], actor: String
    ) -> AuditEvent {
        AuditEvent(
            "reload",
            [
                "actor": actor, "changes": changes.isEmpty ? nil : changes,
                "configuration": configuration.map { UnescapedText(base64: $0) }, "outcome": outcome.rawValue,
            ])
    }

    /// - Parameter change: `added`, `removed` or `changed`.
    public static func client(name: String, change: String, actor: String) -> AuditEvent {
        AuditEvent("client", ["actor": actor, "change": change, "client": name])
    }

    /// - Parameters:
    ///   - fingerprint: Base64url of the SHA-256 of the key's SubjectPublicKeyInfo; nil while there is no key.
    ///   - state: one of `ready`, `degraded`, `down`, `refused`, or `removed` when the configuration no longer names
    ///     the key.
    public static func key(
        keyID: String, fingerprint: [UInt8]?, state: String, reason: String?, tokenSerial: String?
    ) -> AuditEvent {
        AuditEvent(
            "key",
            [
                "fingerprint": fingerprint.map { UnescapedText($0) }, "key": keyID, "reason": reason, "state": state,
                "tokenSerial": tokenSerial,
            ])
    }

    /// - Parameter event: see `KeyBackendEvent.Kind`.
    public static func token(event: String, label: String?, serial: String?, reason: String?) -> AuditEvent {
        AuditEvent("token", ["event": event, "label": label, "reason": reason, "tokenSerial": serial])
    }

    /// - Parameter register: the register's new content.
    public static func life(_ entry: KeyLifecycleEntry, register: (name: String, value: [UInt8])) -> AuditEvent {
        let digest = UnescapedText(base64: Array(AuditRegister.digest(of: register.value)))
        return AuditEvent(
            "life",
            [
                "action": entry.action, "actor": entry.actor, "approver": entry.approver, "digest": digest,
                "event": entry.event.rawValue, "evidence": entry.evidence.isEmpty ? nil : entry.evidence,
                "fingerprint": entry.fingerprint, "from": entry.from, "id": entry.id, "issuer": entry.issuerID,
                "key": entry.keyID, "reason": entry.reason, "register": register.name, "retireAt": entry.retireAt,
                "to": entry.to,
            ])
    }
}

// MARK: Operators and the log

extension AuditEvent {
    /// The actor made a compliance report or ran a drill, and has a document about it.
    ///
    /// - Parameters:
    ///   - subject: `compliance` or `drill`.
    ///   - digest: SHA-256 of the document's bytes, 32 bytes.
    public static func report(
        subject: String, id: String, digest: [UInt8], hasPassed: Bool, actor: String
    ) -> AuditEvent {
        AuditEvent(
            "report",
            [
                "actor": actor, "digest": UnescapedText(base64: digest), "id": id,
                "outcome": hasPassed ? "passed" : "failed", "subject": subject,
            ])
    }

    /// The actor had the gateway verify the log up to `size`.
    public static func verification(size: Int, isIntact: Bool, actor: String) -> AuditEvent {
        AuditEvent("verification", ["actor": actor, "outcome": isIntact ? "intact" : "broken", "size": size])
    }

    /// Entries `from` up to, but not including, `to` were archived and removed from the store.
    public static func archive(from: Int, to: Int, actor: String) -> AuditEvent {
        AuditEvent("archive", ["actor": actor, "from": from, "to": to])
    }

    /// The actor moved the log to another database. Nothing follows this entry here.
    ///
    /// - Parameter to: the database without parameters. It holds all entries, this one included.
    public static func moved(to: String, actor: String) -> AuditEvent {
        AuditEvent("moved", ["actor": actor, "to": to])
    }

    /// The log continues in this database, after its entry `moved`.
    public static func continued(from: String, actor: String) -> AuditEvent {
        AuditEvent("continued", ["actor": actor, "from": from])
    }

    /// In the log of a fleet: a checkpoint of one of its gateways. So the fleet's root covers all logs, and shows a log
    /// that was shortened.
    ///
    /// - Parameters:
    ///   - log: the origin of the gateway's log.
    ///   - note: the whole checkpoint, a signed note.
    public static func checkpoint(log: String, size: Int, note: String) -> AuditEvent {
        AuditEvent("checkpoint", ["log": log, "note": note, "size": size])
    }

    /// The log could not be written for a time. The gateway refused `refused` requests because of that. It dropped
    /// `lostEvents` events because too many were waiting.
    public static func outage(milliseconds: Int, reason: String, refused: Int, lostEvents: Int) -> AuditEvent {
        AuditEvent(
            "outage",
            ["lostEvents": lostEvents, "milliseconds": milliseconds, "reason": reason, "refused": refused])
    }

    /// The wall clock was set.
    ///
    /// - Parameters:
    ///   - before: the time that the clock would show otherwise, or the time of the previous entry.
    ///   - milliseconds: the size of the step; negative when the clock was set back.
    public static func clock(before: Timestamp, milliseconds: Int64) -> AuditEvent {
        AuditEvent("clock", ["before": before, "milliseconds": Int(milliseconds)])
    }

    /// No event happened since the previous checkpoint.
    public static let idle = AuditEvent("idle")
}

public enum ReloadResult: String, Sendable {
    case applied, unchanged, refused
}

/// A lifecycle event of a key. The register holds the state that results from it.
public struct KeyLifecycleEntry: Sendable {
    public enum Event: String, Sendable {
        /// The key changed state, or a provisioning job succeeded.
        case changed
        /// The key signed a proof of possession on request.
        case proved
        case proposed, approved, rejected
        /// All gateways of a fleet have proved the key of an activation.
        case agreed
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
