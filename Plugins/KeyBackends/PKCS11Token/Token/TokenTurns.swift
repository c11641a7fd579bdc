internal import PKCS11
internal import Synchronization

/// Whoever shows a PIN to a token does it alone, so that what came of it is known before it is shown again. Tokens do
/// not wait for each other.
enum TokenTurns {
    private static let turns = Mutex<[String: Turn]>([:])

    private final class Turn: Sendable {
        let lock = Mutex<Void>(())
    }

    /// On a backend's own thread: it may wait for a call that another one makes.
    static func alone<Value, Failure: Error>(
        with token: TokenInfo, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = turns.withLock { turns in
            let turn = turns[token.identity] ?? Turn()
            turns[token.identity] = turn
            return turn
        }
        return try turn.lock.withLock { _ throws(Failure) in try body() }
    }
}
