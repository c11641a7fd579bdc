import Encodings
import SigningKit
import StrictJSON

/// Writes entries in canonical form: members in alphabetical order (RFC 8785 §3.2.3), integers, no white space.
struct EntryWriter {
    private let time: [UInt8]

    init(_ time: Timestamp) {
        self.time = time.rfc3339
    }

    func bytes(of event: AuditEvent) -> [UInt8] {
        var writer = JSONWriter(capacity: 640)
        writer.object { writer in write(event, &writer) }
        return writer.bytes
    }

    private func write(_ event: AuditEvent, _ writer: inout JSONWriter) {
        switch event {
        case .signature(let record): signature(record, &writer)
        case .refusal(let record): refusal(record, &writer)
        case .refusals(let counts): refusals(counts, &writer)
        case .start(let configuration, let version):
            writer.member("configuration", unescaped: Base64.url.encode(configuration))
            kindTime("start", &writer)
            end(&writer, version: version)
        case .stop: kindOnly("stop", &writer)
        case .reload(let record): reload(record, &writer)
        case .client(let name, let change, let actor):
            writer.member("actor", actor)
            writer.member("change", change.rawValue)
            writer.member("client", name)
            kindOnly("client", &writer)
        case .key(let record): key(record, &writer)
        case .token(let record): token(record, &writer)
        case .life(let record, let register): life(record, register, &writer)
        case .report(let record):
            writer.member("actor", record.actor)
            writer.member("digest", unescaped: Base64.url.encode(record.digest))
            writer.member("id", record.id)
            kind("report", &writer)
            writer.member("outcome", record.outcome)
            writer.member("subject", record.subject)
            timeAndVersion(&writer)
        case .verification(let size, let isIntact, let actor):
            writer.member("actor", actor)
            kind("verification", &writer)
            writer.member("outcome", isIntact ? "intact" : "broken")
            writer.member("size", size)
            timeAndVersion(&writer)
        case .archive(let from, let to, let actor):
            writer.member("actor", actor)
            writer.member("from", from)
            kindTime("archive", &writer)
            writer.member("to", to)
            version(&writer)
        case .outage(let milliseconds, let reason, let refused, let lostEvents):
            kind("outage", &writer)
            writer.member("lostEvents", lostEvents)
            writer.member("milliseconds", milliseconds)
            writer.member("reason", reason)
            writer.member("refused", refused)
            timeAndVersion(&writer)
        case .clock(let before, let milliseconds):
            writer.member("before", unescaped: before.rfc3339)
            kind("clock", &writer)
            writer.member("milliseconds", milliseconds)
            timeAndVersion(&writer)
        case .idle: kindOnly("idle", &writer)
        }
    }

    // MARK: Signatures and refusals

    private func signature(_ record: SignatureRecord, _ writer: inout JSONWriter) {
        writer.member("app", record.app)
        writer.member("client", record.client)
        writer.member("digest", unescaped: Base64.url.encode(Array(record.digest)))
        writer.member("feature", record.feature)
        writer.member("fingerprint", unescaped: record.fingerprint)
        if let item = record.item { writer.member("item", item) }
        writer.member("key", record.keyID)
        kind("signature", &writer)
        writer.member("nonce", unescaped: record.nonce.text)
        subject(record.subject, &writer)
        writer.member("requestId", record.requestID)
        writer.member("time", unescaped: time)
        if let serial = record.tokenSerial { writer.member("tokenSerial", serial) }
        writer.name("took")
        writer.object { writer in
            writer.member("key", record.keyMicroseconds)
            writer.member("request", record.requestMicroseconds)
        }
        if let user = record.user { writer.member("user", unescaped: user) }
        version(&writer)
    }

    private func refusal(_ record: RefusalRecord, _ writer: inout JSONWriter) {
        if let app = record.app { writer.member("app", app) }
        writer.member("client", record.client)
        if let feature = record.feature { writer.member("feature", feature) }
        if let item = record.item { writer.member("item", item) }
        if let key = record.keyID { writer.member("key", key) }
        kind("refusal", &writer)
        writer.member("reason", record.reason)
        writer.member("requestId", record.requestID)
        writer.member("status", record.status)
        timeAndVersion(&writer)
    }

    private func subject(_ subject: OfferSubject, _ writer: inout JSONWriter) {
        list("offers", subject.offers, &writer)
        list("products", subject.products, &writer)
    }

    private func refusals(_ record: RefusalCounts, _ writer: inout JSONWriter) {
        if let client = record.client { writer.member("client", client) }
        writer.name("counts")
        writer.object { writer in
            for (reason, count) in record.counts.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: reason)
                writer.integer(count)
            }
        }
        kind("refusals", &writer)
        writer.member("minute", unescaped: record.minute.rfc3339)
        timeAndVersion(&writer)
    }

    // MARK: Gateway events

    private func reload(_ record: ReloadRecord, _ writer: inout JSONWriter) {
        writer.member("actor", record.actor)
        if !record.changes.isEmpty { list("changes", record.changes, &writer) }
        if let digest = record.configuration { writer.member("configuration", unescaped: Base64.url.encode(digest)) }
        kind("reload", &writer)
        writer.member("outcome", record.outcome.rawValue)
        timeAndVersion(&writer)
    }

    private func key(_ record: KeyRecord, _ writer: inout JSONWriter) {
        if let fingerprint = record.fingerprint { writer.member("fingerprint", unescaped: fingerprint) }
        writer.member("key", record.keyID)
        kind("key", &writer)
        if let reason = record.reason { writer.member("reason", reason) }
        writer.member("state", record.state)
        writer.member("time", unescaped: time)
        if let serial = record.tokenSerial { writer.member("tokenSerial", serial) }
        version(&writer)
    }

    private func token(_ record: TokenRecord, _ writer: inout JSONWriter) {
        writer.member("event", record.event)
        kind("token", &writer)
        if let label = record.label { writer.member("label", label) }
        if let reason = record.reason { writer.member("reason", reason) }
        writer.member("time", unescaped: time)
        if let serial = record.serial { writer.member("tokenSerial", serial) }
        version(&writer)
    }

    private func life(
        _ record: KeyLifecycleEntry, _ register: (name: String, value: [UInt8]), _ writer: inout JSONWriter
    ) {
        writer.member("action", record.action)
        writer.member("actor", record.actor)
        if let approver = record.approver { writer.member("approver", approver) }
        writer.member("digest", unescaped: Base64.url.encode(Array(AuditRegister.digest(of: register.value))))
        writer.member("event", record.event.rawValue)
        if !record.evidence.isEmpty { texts("evidence", record.evidence, &writer) }
        if let fingerprint = record.fingerprint { writer.member("fingerprint", fingerprint) }
        if let from = record.from { writer.member("from", from) }
        if let id = record.id { writer.member("id", id) }
        writer.member("issuer", record.issuerID)
        writer.member("key", record.keyID)
        kind("life", &writer)
        if let reason = record.reason { writer.member("reason", reason) }
        writer.member("register", register.name)
        if let retireAt = record.retireAt { writer.member("retireAt", unescaped: retireAt.rfc3339) }
        writer.member("time", unescaped: time)
        if let to = record.to { writer.member("to", to) }
        version(&writer)
    }

    // MARK: Helpers

    private func texts(_ name: StaticString, _ values: [String: String], _ writer: inout JSONWriter) {
        writer.name(name)
        writer.object { writer in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.string(value)
            }
        }
    }

    private func list(_ name: StaticString, _ values: [String], _ writer: inout JSONWriter) {
        writer.name(name)
        writer.array { writer in for value in values { writer.string(value) } }
    }

    private func kindOnly(_ kind: StaticString, _ writer: inout JSONWriter) {
        kindTime(kind, &writer)
        version(&writer)
    }

    private func kind(_ kind: StaticString, _ writer: inout JSONWriter) {
        writer.name("kind")
        kind.withUTF8Buffer { writer.unescaped(Array($0)) }
    }

    private func kindTime(_ kind: StaticString, _ writer: inout JSONWriter) {
        self.kind(kind, &writer)
        writer.member("time", unescaped: time)
    }

    private func timeAndVersion(_ writer: inout JSONWriter) {
        writer.member("time", unescaped: time)
        version(&writer)
    }

    private func version(_ writer: inout JSONWriter) { writer.member("v", AuditEntry.version) }

    /// Writes `v` before `version`, in alphabetical order.
    private func end(_ writer: inout JSONWriter, version text: String) {
        version(&writer)
        writer.member("version", text)
    }
}
