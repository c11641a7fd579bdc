public import SigningKit

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
