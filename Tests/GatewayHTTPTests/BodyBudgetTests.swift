import GatewayConfiguration
import Testing

@testable import GatewayHTTP

@Suite("Body bytes in flight")
struct BodyBudgetTests {
    private let budget = BodyBudget()
    private let bounds: GatewayConfiguration.Limits = {
        var bounds = GatewayConfiguration.Limits()
        bounds.clientBodyBytes = 10
        bounds.totalBodyBytes = 15
        return bounds
    }()

    @Test("Each client has a limit, and all clients together have one")
    func limits() throws {
        try budget.take(10, for: "shop", within: bounds)
        #expect(throws: Problem.tooManyBytes(client: "shop")) { try budget.take(1, for: "shop", within: bounds) }
        try budget.take(5, for: "game", within: bounds)
        #expect(throws: Problem.tooManyBytes(client: nil)) { try budget.take(1, for: "game", within: bounds) }
        budget.release(10, for: "shop")
        try budget.take(5, for: "game", within: bounds)
        #expect(budget.total == 10)
    }

    @Test("A length that overflows the sum exceeds the limit")
    func overflow() throws {
        try budget.take(10, for: "shop", within: bounds)
        #expect(throws: Problem.self) { try budget.take(.max, for: "shop", within: bounds) }
        #expect(budget.total == 10)
    }
}
