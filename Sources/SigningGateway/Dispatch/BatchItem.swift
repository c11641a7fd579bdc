/// A request among others that are signed with one key, and recorded together.
struct BatchItem: Sendable {
    /// Position in the batch.
    let index: Int
    /// Of the whole batch, which ends it.
    let turn: Result<KeyTurn, GatewayError>
}
