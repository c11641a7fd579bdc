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
