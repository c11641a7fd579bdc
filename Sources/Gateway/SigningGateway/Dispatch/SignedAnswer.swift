import AuditKit

/// An answer in JSON that may leave when its entry is durable.
struct SignedAnswer: Sendable {
    let json: [UInt8]
    /// Nil without an audit log.
    let entry: CanonicalEntry?
}
