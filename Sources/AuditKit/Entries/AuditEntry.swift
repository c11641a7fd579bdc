public import SigningKit

/// One fact, and when it was so.
public struct AuditEntry: Sendable {
    /// Of what `docs/audit-format.md` describes.
    public static let version = 1

    public let time: Timestamp
    public let event: AuditEvent

    public init(_ event: AuditEvent, at time: Timestamp) {
        self.time = time
        self.event = event
    }

    public var canonical: CanonicalEntry { CanonicalEntry(EntryWriter(time).bytes(of: event)) }
}
