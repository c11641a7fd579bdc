import Encodings
import SigningKit
import StrictJSON

/// Writes entries in canonical form: members in alphabetical order (RFC 8785 §3.2.3), integers, no white space.
struct EntryWriter {
    private enum Value {
        case text(String)
        /// Characters that need no escapes.
        case plain([UInt8])
        case number(Int64)
        case list([String])
        case object([String: Value])

        /// A SHA-256 or other bytes, in Base64url.
        static func bytes(_ bytes: [UInt8]) -> Value { .plain(Base64.url.encode(bytes)) }
        static func time(_ time: Timestamp) -> Value { .plain(time.rfc3339) }
        static func count(_ count: Int) -> Value { .number(Int64(count)) }
    }

    private let time: [UInt8]

    init(_ time: Timestamp) {
        self.time = time.rfc3339
    }

    func bytes(of event: AuditEvent) -> [UInt8] {
        var writer = JSONWriter(capacity: 640)
        if case .signature(let record) = event {
            writer.object { writer in write(record, &writer) }
        } else {
            let (kind, members) = Self.members(of: event)
            var all = members.compactMapValues(\.self)
            all["kind"] = .text(kind)
            all["time"] = .plain(time)
            all["v"] = .count(AuditEntry.version)
            write(.object(all), &writer)
        }
        return writer.bytes
    }

    /// Names its members in their order, because a request waits for it.
    private func write(_ record: SignatureRecord, _ writer: inout JSONWriter) {
        writer.member("app", record.app)
        writer.member("client", record.client)
        writer.member("digest", unescaped: Base64.url.encode(Array(record.digest)))
        writer.member("feature", record.feature)
        writer.member("fingerprint", unescaped: record.fingerprint)
        if let item = record.item { writer.member("item", item) }
        writer.member("key", record.keyID)
        writer.member("kind", "signature")
        writer.member("nonce", unescaped: record.nonce.text)
        write(list: record.subject.offers, "offers", &writer)
        write(list: record.subject.products, "products", &writer)
        writer.member("requestId", record.requestID)
        writer.member("time", unescaped: time)
        if let serial = record.tokenSerial { writer.member("tokenSerial", serial) }
        writer.name("took")
        writer.object { writer in
            writer.member("key", record.keyMicroseconds)
            writer.member("request", record.requestMicroseconds)
        }
        if let user = record.user { writer.member("user", unescaped: user) }
        writer.member("v", AuditEntry.version)
    }

    private func write(list: [String], _ name: StaticString, _ writer: inout JSONWriter) {
        writer.name(name)
        write(.list(list), &writer)
    }

    private func write(_ value: Value, _ writer: inout JSONWriter) {
        switch value {
        case .text(let text): writer.string(text)
        case .plain(let characters): writer.unescaped(characters)
        case .number(let number): writer.integer(number)
        case .list(let texts): writer.array { writer in for text in texts { writer.string(text) } }
        case .object(let members):
            writer.object { writer in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.name(escaping: name)
                    write(value, &writer)
                }
            }
        }
    }

    /// The kind, and the members except kind, time and version. Signatures have `write`.
    private static func members(of event: AuditEvent) -> (kind: String, members: [String: Value?]) {
        switch event {
        case .signature: ("signature", [:])
        case .refusal(let record):
            (
                "refusal",
                [
                    "app": record.app.map(Value.text), "client": .text(record.client),
                    "feature": record.feature.map(Value.text), "item": record.item.map(Value.count),
                    "key": record.keyID.map(Value.text), "reason": .text(record.reason),
                    "requestId": .text(record.requestID), "status": .count(record.status),
                ]
            )
        case .refusals(let record):
            (
                "refusals",
                [
                    "client": record.client.map(Value.text), "counts": .object(record.counts.mapValues(Value.count)),
                    "minute": .time(record.minute),
                ]
            )
        case .start(let configuration, let version):
            ("start", ["configuration": .bytes(configuration), "version": .text(version)])
        case .stop: ("stop", [:])
        case .reload(let outcome, let configuration, let changes, let actor):
            (
                "reload",
                [
                    "actor": .text(actor), "changes": changes.isEmpty ? nil : .list(changes),
                    "configuration": configuration.map(Value.bytes), "outcome": .text(outcome.rawValue),
                ]
            )
        case .client(let name, let change, let actor):
            ("client", ["actor": .text(actor), "change": .text(change.rawValue), "client": .text(name)])
        case .key(let record):
            (
                "key",
                [
                    "fingerprint": record.fingerprint.map(Value.plain), "key": .text(record.keyID),
                    "reason": record.reason.map(Value.text), "state": .text(record.state),
                    "tokenSerial": record.tokenSerial.map(Value.text),
                ]
            )
        case .token(let event, let label, let serial, let reason):
            (
                "token",
                [
                    "event": .text(event), "label": label.map(Value.text), "reason": reason.map(Value.text),
                    "tokenSerial": serial.map(Value.text),
                ]
            )
        case .life(let record, let register): ("life", members(of: record, register))
        case .report(let subject, let id, let digest, let hasPassed, let actor):
            (
                "report",
                [
                    "actor": .text(actor), "digest": .bytes(digest), "id": .text(id),
                    "outcome": .text(hasPassed ? "passed" : "failed"), "subject": .text(subject),
                ]
            )
        case .verification(let size, let isIntact, let actor):
            (
                "verification",
                ["actor": .text(actor), "outcome": .text(isIntact ? "intact" : "broken"), "size": .count(size)]
            )
        case .archive(let from, let to, let actor):
            ("archive", ["actor": .text(actor), "from": .count(from), "to": .count(to)])
        case .outage(let milliseconds, let reason, let refused, let lostEvents):
            (
                "outage",
                [
                    "lostEvents": .count(lostEvents), "milliseconds": .count(milliseconds), "reason": .text(reason),
                    "refused": .count(refused),
                ]
            )
        case .clock(let before, let milliseconds):
            ("clock", ["before": .time(before), "milliseconds": .number(milliseconds)])
        case .idle: ("idle", [:])
        }
    }

    private static func members(
        of record: KeyLifecycleEntry, _ register: (name: String, value: [UInt8])
    ) -> [String: Value?] {
        [
            "action": .text(record.action), "actor": .text(record.actor), "approver": record.approver.map(Value.text),
            "digest": .bytes(Array(AuditRegister.digest(of: register.value))), "event": .text(record.event.rawValue),
            "evidence": record.evidence.isEmpty ? nil : .object(record.evidence.mapValues(Value.text)),
            "fingerprint": record.fingerprint.map(Value.text), "from": record.from.map(Value.text),
            "id": record.id.map(Value.text), "issuer": .text(record.issuerID), "key": .text(record.keyID),
            "reason": record.reason.map(Value.text), "register": .text(register.name),
            "retireAt": record.retireAt.map(Value.time), "to": record.to.map(Value.text),
        ]
    }
}
