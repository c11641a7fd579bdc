/// Remembers the logins to tokens across processes and gateways, because a few wrong PINs lock a token. It holds no PIN, and
/// nothing derived from one that a token may accept.
public protocol LoginHistory: Sendable {
    /// The record of earlier attempts with this secret; nil if there is none.
    ///
    /// - Throws: `unavailable` if the history cannot be read: without it, no PIN may be sent.
    func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord?

    /// Stores the state of an attempt durably. Call it with `begun` before the PIN is sent.
    func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError)

    /// Waits until no other gateway of the fleet logs in to the token. Call `endTurn` after the login.
    ///
    /// - Parameter token: as in `LoginAttempt`.
    /// - Returns: the PINs that the token refused from any gateway of the fleet; nil for a gateway without a fleet.
    /// - Throws: `unavailable` if another gateway takes long, or if the fleet cannot be asked: then no PIN may be sent.
    func beginTurn(_ token: String) throws(KeyError) -> RefusedPINList?

    /// - Parameter refused: the hash of a PIN that the token reported as wrong, see `RefusedPINList.hash`. Returns when the
    ///   other gateways know it.
    func endTurn(_ token: String, refused: [UInt8]?) throws(KeyError)
}

/// A history without a fleet.
extension LoginHistory {
    public func beginTurn(_ token: String) throws(KeyError) -> RefusedPINList? { nil }
    public func endTurn(_ token: String, refused: [UInt8]?) throws(KeyError) {}
}

/// A token and a secret, for a login.
public struct LoginAttempt: Hashable, Codable, Sendable {
    /// Identifies the token: manufacturer, model, serial number and label.
    public let token: String
    /// See `SecretSource.identity(of:)`.
    public let secret: String

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
    }

    public var state: State
    /// Whether the token has accepted this secret before.
    public var wasAccepted: Bool
    /// The number of attempts without a clear result since the last clear one.
    public var unclearCount: Int

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
        // The token did not count the attempt.
        case .unchecked: record.unclearCount = max(0, record.unclearCount - 1)
        case .unclear: break
        }
        return record
    }
}
