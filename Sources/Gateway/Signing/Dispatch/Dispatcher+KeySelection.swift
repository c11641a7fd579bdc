import AuditLog
import SigningKit

extension Dispatcher {
    /// Selects the key. The caller must call `SelectedKey.end()`.
    func selectKey(for request: ResolvedRequest) async throws(GatewayError) -> SelectedKey {
        guard let app = request.activeKeyOf, let life = app.life else {
            let selected = SelectedKey(key: request.served, life: nil)
            try requireUse(of: selected, for: request)
            return selected
        }
        guard let keyID = await life.enter() else { throw .noKeyInUse(app: app.bundleID) }
        guard let key = app.key(keyID) else {
            life.leave()
            throw .key(.unavailable("The configuration no longer names the active key."), keyID: keyID)
        }
        return SelectedKey(key: key, life: life)
    }

    /// Throws unless the key may sign. Call it after signing, too: an administrator may have stopped the key meanwhile.
    func requireUse(of selected: SelectedKey, for request: ResolvedRequest) throws(GatewayError) {
        let keyID = selected.key.identity.keyID
        if let life = selected.life {
            guard life.key(keyID)?.state.signs == true else { throw .noKeyInUse(app: request.app.bundleID) }
            return
        }
        guard let life = request.life else { return }
        // A key that the register does not have in this account is not in use.
        guard let key = life.key(keyID) else { throw .keyNotInUse(keyID, .staged) }
        guard key.state.signs else { throw .keyNotInUse(keyID, key.state) }
        if key.state == .retiring, let deadline = key.deadline, audit?.clock.isOver(deadline) == true {
            throw .keyNotInUse(keyID, .retired)
        }
    }
}

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
