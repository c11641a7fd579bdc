import SigningKit
import Synchronization
import Testing

@testable import Signing

/// A gateway with one client, `limited`, and a clock that only the test advances.
struct LimitedGateway {
    final class Clock: Sendable {
        private let state = Mutex(RateLimitTime(monotonic: 5, wall: Timestamp(milliseconds: 20_000 * 86_400_000)))

        var now: RateLimitTime { state.withLock { $0 } }
        func set(_ moment: RateLimitTime) { state.withLock { $0 = moment } }

        func pass(milliseconds: Int64) {
            state.withLock { now in
                now = RateLimitTime(
                    monotonic: now.monotonic + milliseconds * 1_000_000,
                    wall: Timestamp(milliseconds: now.wall.milliseconds + milliseconds))
            }
        }

        func set(wall: Int64) {
            state.withLock { $0 = RateLimitTime(monotonic: $0.monotonic, wall: Timestamp(milliseconds: wall)) }
        }
    }

    let clock = Clock()
    let settings: GatewaySettings
    let dispatcher: Dispatcher
    let directory: ClientDirectory
    let client: Client

    init(rate: RateSettings? = nil, dailyQuota: Int? = nil) async throws {
        settings = GatewaySettings(
            accounts: [], clients: [ClientSettings(name: "limited", rate: rate, dailyQuota: dailyQuota)])
        dispatcher = Dispatcher(
            settings, features: [],
            ring: KeyRing(settings, backends: [], secrets: FileSecretSource(credentialsDirectory: nil)),
            now: { [clock] in clock.now })
        directory = ClientDirectory(settings)
        client = try #require(directory.clients.first)
    }

    @discardableResult
    func admit(_ count: Int = 1, taken: Int = 0) throws(GatewayError) -> RateLimitStatus? {
        try dispatcher.admit(client, count: count, taken: taken, feature: "promotional-offer")
    }

    /// - Returns: nil if the requests are admitted; then they count.
    func refusal(_ count: Int = 1, taken: Int = 0) -> RateLimitRefusal? {
        do throws(GatewayError) { try admit(count, taken: taken) } catch {
            if case .limited(let refusal) = error { return refusal }
            Issue.record("\(error)")
        }
        return nil
    }

    func reloaded(_ settings: GatewaySettings) throws -> Client {
        try #require(ClientDirectory(settings, inheriting: directory).clients.first)
    }
}
