import GatewayConfiguration
import Synchronization

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
