import AuditKit

/// What keeps a signed answer from leaving.
struct AnswerHold: Sendable {
    /// Has to be durable first. Nil where no record is kept.
    let entry: CanonicalEntry?
    /// Ends when it is. Nil for an item of a batch, which ends its turn itself.
    let turn: KeyTurn?
}
