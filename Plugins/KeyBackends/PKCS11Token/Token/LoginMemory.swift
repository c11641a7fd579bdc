import PKCS11
import SigningKit

/// The logins of this process and of earlier ones with the secret of one file. The process may end during a login, and
/// its successor must not send a wrong PIN again.
struct LoginMemory: Sendable {
    private let history: any LoginHistory
    /// See `SecretSource.identity(of:)`.
    private let secret: String
    /// How long a login waits for those of other gateways. The watchdog allows `operationTimeout` for all of it.
    private let waiting: Duration

    /// Attempts without a result after which a PIN that was never accepted is not sent again.
    private static let unclearLimit = 3
    private static let longestWait = Duration.seconds(2)

    /// Nil if the PIN has no file, or no history is kept.
    init?(_ pinSource: String?, in environment: KeyBackendEnvironment) {
        guard let history = environment.logins, let pinSource,
            let secret = environment.secrets.identity(of: pinSource)
        else { return nil }
        (self.history, self.secret) = (history, secret)
        waiting = min(Self.longestWait, .milliseconds(TokenSettings(environment.settings).timeout) / 2)
    }

    /// - Parameter orderedAt: when a person ordered this opening, see `KeyBackendEnvironment.reopenOrderedAt`.
    /// - Throws: `loginRefused` or `loginBlocked` if the PIN must not be sent.
    func check(_ token: TokenInfo, orderedAt: UInt64?) throws(KeyError) {
        guard let record = try history.record(of: attempt(token)) else { return }
        // An order permits one attempt, also if the gateway opens the token again and again.
        let isOrdered = orderedAt.map { $0 > record.attemptedAt ?? 0 } ?? false
        switch record.state {
        case .accepted, .notSent: return
        case .refused: throw Login.keyError(.wrong, token, "refused this PIN before")
        case .unclear:
            guard isOrdered else { throw Login.keyError(.unclear, token, "did not accept an earlier login") }
        case .unchecked:
            // The token said that it did not check the PIN, and CKF_USER_PIN_COUNT_LOW says that it counted one.
            let mayHaveCounted =
                token.flags.contains(.userPINCountLow)
                || (!record.wasAccepted && record.unclearCount > Self.unclearLimit)
            guard isOrdered || !mayHaveCounted else {
                throw Login.keyError(
                    .unclear, token, "said that it did not check the PIN, but may have counted the login")
            }
        case .begun:
            // The process ended during the call. CKF_USER_PIN_COUNT_LOW shows whether the token counted it.
            if token.flags.contains(.userPINCountLow) {
                throw .loginBlocked(
                    "The token \(token.name) has counted a wrong PIN, and the process ended during the last login, so "
                        + "the gateway does not log in. Check the PIN, save its file again, and reload.")
            }
            guard record.wasAccepted || isOrdered || record.unclearCount < Self.unclearLimit else {
                throw Login.keyError(
                    .unclear, token, "gave no result for \(record.unclearCount) logins: the process ended each time")
            }
        }
    }

    func note(_ state: LoginRecord.State, _ token: TokenInfo) throws(KeyError) {
        try history.note(state, of: attempt(token))
    }

    /// Nil for a gateway without a fleet.
    func beginTurn(_ token: TokenInfo) throws(KeyError) -> LoginTurn? {
        try history.beginTurn(token.identity, waiting: waiting)
    }

    /// The result of the login stands also if the other gateways do not hear of it.
    func end(_ turn: LoginTurn, refused: [UInt8]? = nil) { try? history.endTurn(turn, refused: refused) }

    /// Tells the other gateways of a refused PIN, unless they know of it.
    ///
    /// - Returns: whether an administrator of the fleet has allowed the PIN again since.
    @discardableResult
    func tellFleet(of pin: Secret, _ token: TokenInfo) -> Bool {
        guard let turn = try? history.beginTurn(token.identity, waiting: nil) else { return false }
        let known = turn.refusedPINs.refusal(of: pin)
        end(turn, refused: known == nil ? turn.refusedPINs.hash(of: pin) : nil)
        return known?.isForgotten == true
    }

    private func attempt(_ token: TokenInfo) -> LoginAttempt { LoginAttempt(token: token.identity, secret: secret) }
}
