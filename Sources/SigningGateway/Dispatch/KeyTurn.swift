/// The key that signs for a request, or for all of a batch.
///
/// As long as the turn of a request that names no key has not ended, its key is not replaced: what it signed stands in the log
/// before the change.
struct KeyTurn: Sendable {
    let key: ServedApp.Key
    /// Nil for a key that the request names, and where no register is kept: nobody waits for the end of those.
    let life: AccountKeys?

    /// Once for each turn: when the entry is durable, or there will be none.
    func end() { life?.leave() }
}
