import AuditKit

/// What has to be before a signed answer may leave.
struct PendingRelease: Sendable {
    /// Has to be durable first. Nil where no record is kept.
    let entry: CanonicalEntry?
    /// Ends when it is. Nil for an item of a batch, which ends its turn itself.
    let turn: KeyTurn?
}
