public import SigningKit

/// An event and the time at which it happened.
public struct AuditEntry: Sendable {
    /// The version of the entry format in `docs/audit-format.md`.
    public static let version = 1

    public let time: Timestamp
    public let event: AuditEvent

    public init(_ event: AuditEvent, at time: Timestamp) {
        self.time = time
        self.event = event
    }

    public var canonical: CanonicalEntry { CanonicalEntry(EntryWriter(time).bytes(of: event)) }
}
