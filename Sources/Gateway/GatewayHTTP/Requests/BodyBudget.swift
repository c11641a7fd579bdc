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

/// The bytes that one request's body has reserved in the budget, until the request is answered.
final class BodyReservation: Sendable {
    private let budget: BodyBudget
    private let client: String
    private let bounds: GatewayConfiguration.Limits
    private let taken = Mutex(0)

    init(_ budget: BodyBudget, client: String, within bounds: GatewayConfiguration.Limits) {
        self.budget = budget
        self.client = client
        self.bounds = bounds
    }

    func take(_ count: Int) throws(Problem) {
        try budget.take(count, for: client, within: bounds)
        taken.withLock { $0 += count }
    }

    func end() {
        let count = taken.withLock { taken in
            defer { taken = 0 }
            return taken
        }
        if count > 0 { budget.release(count, for: client) }
    }
}
