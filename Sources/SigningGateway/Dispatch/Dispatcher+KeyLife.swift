import SigningKit

/// Which key signs, by where it stands in its life.
extension Dispatcher {
    /// Chooses the key, and keeps it from being replaced until `body` has made the request's entry: what bears the old key
    /// stands in the log before the change.
    func withKey<Value>(
        along route: SigningRoute, _ body: (ServedApp.Key) async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        guard let app = route.turns, let life = app.life else {
            try requireUse(of: route)
            let value = try await body(route.served)
            // It may have waited for its token while somebody stopped the key.
            try requireUse(of: route)
            return value
        }
        guard let keyID = await life.enter() else { throw .noKeyInUse(app: app.bundleID) }
        defer { life.leave() }
        guard let key = app.key(keyID) else {
            throw .key(.unavailable("The configuration does not name the active key any more."), keyID: keyID)
        }
        let value = try await body(key)
        guard life.key(keyID)?.state.signs == true else { throw .noKeyInUse(app: app.bundleID) }
        return value
    }

    /// A key that is named has to be one that may still be.
    private func requireUse(of route: SigningRoute) throws(GatewayError) {
        guard let life = route.life else { return }
        // A key that the register does not know in this account is not in use.
        guard let key = life.key(route.app.keyID) else { throw .keyNotInUse(route.app.keyID, .staged) }
        guard key.state.signs else { throw .keyNotInUse(route.app.keyID, key.state) }
        if key.state == .retiring, let retireAt = key.retireAt, retireAt <= GrantIssuer.systemTime() {
            throw .keyNotInUse(route.app.keyID, .retired)
        }
    }
}
