import SignerProtocol
import SigningKit
import Synchronization

/// Asks the gateway about earlier logins. The thread of a backend waits for the reply.
final class SignerQuestions: LoginHistory {
    private struct State {
        var lastID: UInt64 = 0
        var waiting: [UInt64: Waiting] = [:]
    }

    private final class Waiting: Sendable {
        let isAnswered = Semaphore()
        let reply = Mutex<SignerReply?>(nil)
    }

    private let socket: SignerSocket
    private let state = Mutex(State())

    /// The gateway answers from a small file, and in a fleet from its database.
    private static let timeout = Duration.seconds(5)

    init(_ socket: SignerSocket) {
        self.socket = socket
    }

    func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? {
        guard case .loginRecord(let record) = try ask(.loginRecord(attempt)) else {
            throw .unavailable("The gateway did not answer which logins there were.")
        }
        return record
    }

    func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        _ = try ask(.noteLogin(state, attempt))
    }

    func beginTurn(_ token: String) throws(KeyError) -> RefusedPINList? {
        guard case .refusedPINs(let list) = try ask(.beginTurn(token: token)) else {
            throw .unavailable("The gateway did not answer which PINs were refused.")
        }
        return list
    }

    func endTurn(_ token: String, refused: [UInt8]?) throws(KeyError) {
        _ = try ask(.endTurn(token: token, refused: refused))
    }

    /// Called by the reading thread.
    func answer(_ reply: Numbered<SignerReply>) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: reply.id) }
        waiting?.reply.withLock { $0 = reply.message }
        waiting?.isAnswered.signal()
    }

    private func ask(_ question: SignerQuestion) throws(KeyError) -> SignerReply {
        let waiting = Waiting()
        let id = state.withLock { state in
            state.lastID += 1
            state.waiting[state.lastID] = waiting
            return state.lastID
        }
        socket.send(Numbered(id, question), as: .question)
        guard waiting.isAnswered.wait(atMost: Self.timeout), let reply = waiting.reply.withLock({ $0 }) else {
            state.withLock { $0.waiting[id] = nil }
            throw .unavailable("The gateway did not answer which logins there were.")
        }
        if case .failed(let error) = reply { throw error }
        return reply
    }
}
