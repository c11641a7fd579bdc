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

    /// The gateway answers from a small file.
    private static let fileTimeout = Duration.seconds(5)
    /// It answers from a database, after it has waited for other gateways.
    private static let fleetTimeout = Duration.seconds(10)

    init(_ socket: SignerSocket) {
        self.socket = socket
    }

    func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? {
        guard case .loginRecord(let record) = try ask(.loginRecord(attempt), within: Self.fileTimeout) else {
            throw Self.noAnswer
        }
        return record
    }

    func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        _ = try ask(.noteLogin(state, attempt), within: Self.fileTimeout)
    }

    func beginTurn(_ token: String, waiting: Duration?) throws(KeyError) -> LoginTurn? {
        let milliseconds = waiting.map { Int($0 / .milliseconds(1)) }
        let question = SignerQuestion.beginTurn(token: token, milliseconds: milliseconds)
        guard case .turn(let turn) = try ask(question, within: Self.fleetTimeout) else { throw Self.noAnswer }
        return turn
    }

    func endTurn(_ turn: LoginTurn, refused: [UInt8]?) throws(KeyError) {
        _ = try ask(.endTurn(id: turn.id, refused: refused), within: Self.fleetTimeout)
    }

    /// Called by the reading thread.
    func answer(_ reply: Numbered<SignerReply>) {
        guard let waiting = state.withLock({ $0.waiting.removeValue(forKey: reply.id) }) else {
            // The turn comes too late for its login.
            if case .turn(let turn?) = reply.message { send(.endTurn(id: turn.id, refused: nil)) }
            return
        }
        waiting.reply.withLock { $0 = reply.message }
        waiting.isAnswered.signal()
    }

    private static let noAnswer = KeyError.unavailable("The gateway did not answer whether the PIN may be sent.")

    /// Sends a question whose reply nothing waits for.
    private func send(_ question: SignerQuestion) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        socket.send(Numbered(id, question), as: .question)
    }

    private func ask(_ question: SignerQuestion, within timeout: Duration) throws(KeyError) -> SignerReply {
        let waiting = Waiting()
        let id = state.withLock { state in
            state.lastID += 1
            state.waiting[state.lastID] = waiting
            return state.lastID
        }
        socket.send(Numbered(id, question), as: .question)
        guard waiting.isAnswered.wait(atMost: timeout), let reply = waiting.reply.withLock({ $0 }) else {
            state.withLock { $0.waiting[id] = nil }
            throw Self.noAnswer
        }
        if case .failed(let error) = reply { throw error }
        return reply
    }
}
