import Metrics
import Synchronization
import Testing

@testable import PKCS11Token

@Suite("The threads of a token's pool")
struct WorkerPoolTests {
    @Test(
        "Calls that hang take one thread each from those that may be replaced",
        arguments: [(0, 2), (4, 2), (5, 1), (6, 0), (9, 0)])
    func bound(_ hungCalls: Int, _ missing: Int) {
        let pool = WorkerPool(
            queueLimit: 8, stuckLimit: 4, metrics: TokenMetrics(token: "shop", in: NOOPMetricsHandler.instance))
        pool.want(2)
        pool.state.withLock { $0.hungCalls = hungCalls }
        #expect(pool.missingWorkers == missing)
    }
}
