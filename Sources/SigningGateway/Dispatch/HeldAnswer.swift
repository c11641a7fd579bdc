import AuditKit

/// A signed answer that must not leave yet: not before its entry is durable.
struct HeldAnswer<Answer: Sendable>: Sendable {
    let answer: Answer
    /// Nil where no record is kept.
    let entry: CanonicalEntry?
}
