import SigningKit

/// Which key signs, by where it stands in its life.
extension Dispatcher {
    /// Chooses the key. `KeyTurn.end()` has to follow.
    func turn(along route: SigningRoute) async throws(GatewayError) -> KeyTurn {
        guard let app = route.turns, let life = app.life else {
            let turn = KeyTurn(key: route.served, life: nil)
            try requireUse(of: turn, along: route)
            return turn
        }
        guard let keyID = await life.enter() else { throw .noKeyInUse(app: app.bundleID) }
        guard let key = app.key(keyID) else {
            life.leave()
            throw .key(.unavailable("The configuration does not name the active key any more."), keyID: keyID)
        }
        return KeyTurn(key: key, life: life)
    }

    /// The key has to be one that may sign: also when it has signed, since a request may have waited for its token while
    /// somebody stopped the key.
    func requireUse(of turn: KeyTurn, along route: SigningRoute) throws(GatewayError) {
        let keyID = turn.key.identity.keyID
        if let life = turn.life {
            guard life.key(keyID)?.state.signs == true else { throw .noKeyInUse(app: route.app.bundleID) }
            return
        }
        guard let life = route.life else { return }
        // A key that the register does not know in this account is not in use.
        guard let key = life.key(keyID) else { throw .keyNotInUse(keyID, .staged) }
        guard key.state.signs else { throw .keyNotInUse(keyID, key.state) }
        if key.state == .retiring, let deadline = key.deadline, audit?.clock.isOver(deadline) == true {
            throw .keyNotInUse(keyID, .retired)
        }
    }
}
