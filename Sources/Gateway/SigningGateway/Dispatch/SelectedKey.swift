/// The key that signs a request, or all requests of a batch.
///
/// For a request that names no key, an activation waits until `end()`. So the entry is in the log before the change.
struct SelectedKey: Sendable {
    let key: ServedApp.Key
    /// Nil if the request names the key, or without a register: no change waits for such a request.
    let life: AccountKeys?

    /// Call it once, when the entry is durable or will not be written.
    func end() { life?.leave() }
}
