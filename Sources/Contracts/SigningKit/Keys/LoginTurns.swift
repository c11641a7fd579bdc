/// Lets the gateways of a fleet log in to a token one after the other, so that each knows the PINs that the token has
/// refused from the others.
public protocol LoginTurns: Sendable {
    /// Waits for the other logins to the token. Call `end` after the login.
    ///
    /// - Parameters:
    ///   - token: as in `LoginAttempt`.
    ///   - waiting: for how long. Nil for no login: the caller only reports a refusal, and waits for nothing.
    /// - Throws: `unavailable` if another login takes longer, or if the fleet cannot be asked: then no PIN may be sent.
    func begin(_ token: String, waiting: Duration?) async throws(KeyError) -> LoginTurn

    /// Ends a turn; one that has ended already has no effect.
    ///
    /// - Parameter refused: the hash of a PIN that the token reported as wrong, see `RefusedPINList.hash`. It is recorded
    ///   before the next gateway has its turn.
    func end(_ turn: LoginTurn, refused: [UInt8]?) async
}

/// A turn to log in to a token. It ends by itself if the gateway ends.
public struct LoginTurn: Codable, Sendable {
    /// As in `LoginAttempt`.
    public let token: String
    /// Random.
    public let id: String
    public let refusedPINs: RefusedPINList

    public init(token: String, id: String, refusedPINs: RefusedPINList) {
        (self.token, self.id, self.refusedPINs) = (token, id, refusedPINs)
    }
}
