import GatewayConfiguration
import Synchronization

/// The bytes of request bodies in flight, from their arrival to the answer.
final class BodyBudget: Sendable {
    private struct State {
        var total = 0
        var clients: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// - Throws: `too-many-bytes`; nothing is reserved then.
    func take(_ count: Int, for client: String, within bounds: GatewayConfiguration.Limits) throws(Problem) {
        try state.withLock { state throws(Problem) in
            let own = state.clients[client, default: 0]
            guard count <= bounds.clientBodyBytes - own else { throw .tooManyBytes(client: client) }
            guard count <= bounds.totalBodyBytes - state.total else { throw .tooManyBytes(client: nil) }
            state.clients[client] = own + count
            state.total += count
        }
    }

    func release(_ count: Int, for client: String) {
        state.withLock { state in
            state.total -= count
            let rest = state.clients[client, default: 0] - count
            state.clients[client] = rest > 0 ? rest : nil
        }
    }

    var total: Int { state.withLock { $0.total } }
}
