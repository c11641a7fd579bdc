internal import PKCS11
internal import Synchronization

/// Serializes the logins to each token, so that the result of one is known before the next.
enum LoginQueue {
    private static let turns = Mutex<[String: TokenLock]>([:])

    private final class TokenLock: Sendable {
        let lock = Mutex<Void>(())
    }

    /// Call this on a backend's own thread only: it blocks during the login of another thread.
    static func alone<Value, Failure: Error>(
        with token: TokenInfo, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = turns.withLock { turns in
            let turn = turns[token.identity] ?? TokenLock()
            turns[token.identity] = turn
            return turn
        }
        return try turn.lock.withLock { _ throws(Failure) in try body() }
    }
}
