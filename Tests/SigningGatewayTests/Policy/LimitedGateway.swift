import SigningGateway
import SigningKit
import Synchronization
import Testing

/// A gateway with one client, `limited`, and a clock that stands still until it is told to pass.
struct LimitedGateway {
    final class Clock: Sendable {
        private let state = Mutex(LimitMoment(monotonic: 5, wall: Timestamp(milliseconds: 20_000 * 86_400_000)))

        var now: LimitMoment { state.withLock { $0 } }
        func set(_ moment: LimitMoment) { state.withLock { $0 = moment } }

        func pass(milliseconds: Int64) {
            state.withLock { now in
                now = LimitMoment(
                    monotonic: now.monotonic + milliseconds * 1_000_000,
                    wall: Timestamp(milliseconds: now.wall.milliseconds + milliseconds))
            }
        }

        func set(wall: Int64) {
            state.withLock { $0 = LimitMoment(monotonic: $0.monotonic, wall: Timestamp(milliseconds: wall)) }
        }
    }

    let clock = Clock()
    let plan: GatewayPlan
    let dispatcher: Dispatcher
    let directory: ClientDirectory
    let client: Client

    init(rate: RatePlan? = nil, dailyQuota: Int? = nil) async throws {
        plan = GatewayPlan(
            accounts: [], clients: [ClientPlan(name: "limited", rate: rate, dailyQuota: dailyQuota)])
        dispatcher = Dispatcher(
            plan, features: [],
            ring: KeyRing(plan, backends: [], secrets: FileSecretSource(credentialsDirectory: nil)),
            now: { [clock] in clock.now })
        directory = ClientDirectory(plan)
        client = try #require(directory.clients.first)
    }

    @discardableResult
    func admit(_ count: Int = 1, taken: Int = 0) throws(GatewayError) -> RateLimitStatus? {
        try dispatcher.admit(client, count: count, taken: taken, feature: "promotional-offer")
    }

    /// Nil, and taken, when it is admitted.
    func refusal(_ count: Int = 1, taken: Int = 0) -> RateLimitRefusal? {
        do throws(GatewayError) { try admit(count, taken: taken) } catch {
            if case .limited(let refusal) = error { return refusal }
            Issue.record("\(error)")
        }
        return nil
    }

    func reloaded(_ plan: GatewayPlan) throws -> Client {
        try #require(ClientDirectory(plan, inheriting: directory).clients.first)
    }
}
