/// Remembers the logins to tokens across processes and gateways, because a few wrong PINs lock a token. It holds no PIN, and
/// nothing derived from one that a token may accept.
public protocol LoginHistory: Sendable {
    /// The record of earlier attempts with this secret; nil if there is none.
    ///
    /// - Throws: `unavailable` if the history cannot be read: without it, no PIN may be sent.
    func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord?

    /// Stores the state of an attempt durably. Call it with `begun` before the PIN is sent.
    func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError)

    /// Nil for a gateway without a fleet.
    var turns: (any LoginTurns)? { get }

    /// `LoginTurns.begin` for the thread of a backend.
    ///
    /// - Returns: nil for a gateway without a fleet.
    func beginTurn(_ token: String, waiting: Duration?) throws(KeyError) -> LoginTurn?

    /// `LoginTurns.end` for the thread of a backend.
    func endTurn(_ turn: LoginTurn, refused: [UInt8]?) throws(KeyError)
}

extension LoginHistory {
    public var turns: (any LoginTurns)? { nil }

    public func beginTurn(_ token: String, waiting: Duration?) throws(KeyError) -> LoginTurn? {
        guard let turns else { return nil }
        return try Semaphore.wait { () async throws(KeyError) in try await turns.begin(token, waiting: waiting) }
    }

    public func endTurn(_ turn: LoginTurn, refused: [UInt8]?) throws(KeyError) {
        guard let turns else { return }
        try Semaphore.wait { () async throws(KeyError) in await turns.end(turn, refused: refused) }
    }
}

/// A token and a secret, for a login.
public struct LoginAttempt: Hashable, Codable, Sendable {
    /// Identifies the token: manufacturer, model, serial number and label.
    public let token: String
    /// See `SecretSource.identity(of:)`.
    public let secret: String
    /// The signer that makes the attempt; nil in the gateway's own process. The gateway sets it, so that the attempts of one
    /// signer displace none of another.
    public var signer: String?

    public init(token: String, secret: String) {
        self.token = token
        self.secret = secret
    }
}

public struct LoginRecord: Hashable, Codable, Sendable {
    public enum State: String, Codable, Sendable {
        /// The attempt has no result yet. It stays in this state if the process ended during the call.
        case begun
        case accepted
        /// The token reported that the PIN is wrong.
        case refused
        /// The login failed in another way, and the token may have counted it.
        case unclear
        /// The token reported that it did not check the PIN.
        case unchecked
        /// The PIN was not sent: the token had a login already, or the module was initialised meanwhile.
        case notSent = "not-sent"
    }

    public var state: State
    /// Whether the token has accepted this secret before.
    public var wasAccepted: Bool
    /// The number of attempts since the last one that was accepted or refused.
    public var unclearCount: Int
    /// When the gateway that answers last began an attempt (`MonotonicTime`); nil if it began none. It is not stored.
    public var attemptedAt: UInt64?

    public init(state: State, wasAccepted: Bool = false, unclearCount: Int = 0) {
        self.state = state
        self.wasAccepted = wasAccepted
        self.unclearCount = unclearCount
    }

    /// The record after the next state of the same attempt.
    public func following(_ next: State) -> LoginRecord {
        var record = self
        record.state = next
        switch next {
        case .begun: record.unclearCount += 1
        case .accepted: (record.wasAccepted, record.unclearCount) = (true, 0)
        case .refused: (record.wasAccepted, record.unclearCount) = (false, 0)
        // A token that says so again and again may count the attempts.
        case .unchecked, .unclear: break
        case .notSent: record.unclearCount = max(0, record.unclearCount - 1)
        }
        return record
    }
}

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
