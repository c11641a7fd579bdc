import SigningKit
import Testing

@testable import Signing

@Suite("Rates and quotas")
struct LimitTests {
    @Test("A bucket admits its burst at once and then its rate each second")
    func bucket() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 2, burst: 3))
        for remaining in [2, 1, 0] {
            #expect(
                try limits.admit() == RateLimitStatus(limit: 3, remaining: remaining, resetsAfter: (4 - remaining) / 2))
        }
        #expect(limits.refusal()?.retryAfter == 1)
        limits.clock.pass(milliseconds: 499)
        #expect(limits.refusal()?.kind == .rate)
        limits.clock.pass(milliseconds: 1)
        #expect(try limits.admit()?.remaining == 0)
        limits.clock.pass(milliseconds: 60_000)
        #expect(try limits.admit()?.remaining == 2)
    }

    @Test("A client that waits for the given time is admitted", arguments: [0.1, 0.3, 0.5, 1, 7, 1000.7])
    func retryAfter(_ perSecond: Double) async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: perSecond, burst: 5))
        for count in [5, 1, 4, 5, 2, 3, 5] {
            if let refusal = limits.refusal(count) {
                limits.clock.pass(milliseconds: Int64(try #require(refusal.retryAfter)) * 1000)
                try limits.admit(count)
            }
        }
    }

    @Test("A batch is admitted completely or not at all")
    func batch() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 10), dailyQuota: 15)
        #expect(try limits.admit(8)?.remaining == 2)
        #expect(limits.refusal(3)?.status == RateLimitStatus(limit: 10, remaining: 2, resetsAfter: 8))
        #expect(limits.refusal(3)?.retryAfter == 1)
        #expect(try limits.admit(2)?.remaining == 0)
        limits.clock.pass(milliseconds: 10_000)
        let quota = try #require(limits.refusal(6))
        #expect(quota.kind == .quota && quota.status.remaining == 5)
        // A request that the quota refuses does not count for the rate.
        #expect(limits.client.standing(at: limits.clock.now).rate?.remaining == 10)
        #expect(try limits.admit(5) == RateLimitStatus(limit: 15, remaining: 0, resetsAfter: 86_400 - 10))
    }

    @Test("A request admitted before its batch counts as part of the batch")
    func taken() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 10), dailyQuota: 15)
        #expect(try limits.admit()?.remaining == 9)
        #expect(try limits.admit(8, taken: 1)?.remaining == 2)
        // A refused batch returns what was taken for it.
        #expect(try limits.admit()?.remaining == 1)
        #expect(limits.refusal(3, taken: 1)?.status.remaining == 2)
        #expect(limits.client.standing(at: limits.clock.now).rate?.remaining == 2)
        #expect(limits.client.standing(at: limits.clock.now).quota?.remaining == 7)
        // On the next day, there is nothing to return.
        limits.clock.pass(milliseconds: 86_400_000)
        #expect(limits.refusal(16, taken: 1)?.kind == .quota)
        #expect(limits.client.standing(at: limits.clock.now).quota?.remaining == 15)
    }

    @Test("A batch above the limit is refused without a retry time")
    func neverFits() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 10), dailyQuota: 20)
        let rate = try #require(limits.refusal(11))
        #expect(rate.kind == .rate && rate.retryAfter == nil && rate.description.contains("at most 10"))
        let quota = try #require(limits.refusal(21))
        #expect(quota.kind == .quota && quota.retryAfter == nil && quota.description.contains("at most 20"))
        #expect(try limits.admit(10)?.remaining == 0)
    }

    @Test("A quota applies to one day of UTC")
    func quota() async throws {
        let limits = try await LimitedGateway(dailyQuota: 2)
        limits.clock.pass(milliseconds: 86_399_500)
        for _ in 0..<2 { try limits.admit() }
        let refusal = try #require(limits.refusal())
        #expect(refusal.retryAfter == 1 && refusal.status == RateLimitStatus(limit: 2, remaining: 0, resetsAfter: 1))
        limits.clock.pass(milliseconds: 500)
        #expect(try limits.admit()?.remaining == 1)
    }

    @Test("A clock change moves the day of a quota and does not refill a rate")
    func wallClock() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 1), dailyQuota: 1)
        try limits.admit()
        limits.clock.set(wall: limits.clock.now.wall.milliseconds - 86_400_000)
        #expect(limits.refusal()?.kind == .rate)
        limits.clock.pass(milliseconds: 1000)
        try limits.admit()
        #expect(limits.refusal()?.kind == .quota)
    }

    @Test("A day has its quota once, also if the clock is set forth and back")
    func wallClockForthAndBack() async throws {
        let limits = try await LimitedGateway(dailyQuota: 2)
        for _ in 0..<2 { try limits.admit() }
        limits.clock.set(wall: limits.clock.now.wall.milliseconds + 86_400_000)
        try limits.admit()
        limits.clock.set(wall: limits.clock.now.wall.milliseconds - 86_400_000)
        #expect(limits.refusal()?.kind == .quota)
        limits.clock.set(wall: limits.clock.now.wall.milliseconds + 86_400_000)
        try limits.admit()
        #expect(limits.refusal()?.kind == .quota)
    }

    @Test("Impossible figures from a database count as nothing used", arguments: [-1, Int.min, Int.max])
    func impossibleFigures(_ used: Int) {
        var today = ClientUsageState()
        today.usedToday = used
        var otherDay = ClientUsageState()
        (otherDay.otherDay, otherDay.usedOnOtherDay) = (0, used)
        for state in [today, otherDay] {
            let read = ClientUsageState(ifPossible: state)
            #expect(read.usedToday == 0 && read.usedOnOtherDay == nil)
        }
    }

    @Test("A count of zero takes nothing, and extreme numbers do not trap", arguments: [0, -1, Int.min, Int.max])
    func oddCounts(_ count: Int) async throws {
        for rate in [
            RateSettings(perSecond: 1, burst: 5), RateSettings(perSecond: .nan, burst: -1),
            RateSettings(perSecond: .infinity, burst: .max),
        ] {
            for quota in [nil, 7, 0, -3, Int.max] {
                let limits = try await LimitedGateway(rate: rate, dailyQuota: quota)
                for instant in [Int64.min, -1, 0, .max] {
                    let moment = RateLimitTime(monotonic: instant, wall: Timestamp(milliseconds: instant))
                    limits.clock.set(moment)
                    _ = limits.refusal(count)
                    _ = limits.client.standing(at: moment)
                }
            }
        }
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 5))
        _ = limits.refusal(min(count, 0))
        #expect(limits.client.standing(at: limits.clock.now).rate?.remaining == 5)
    }

    @Test("A client without limits gets no limit status")
    func unlimited() async throws {
        let limits = try await LimitedGateway()
        #expect(try limits.admit(1_000_000) == nil)
        #expect(try limits.dispatcher.admit(.operator, count: .max, feature: "promotional-offer") == nil)
    }

    @Test("After a reload, a client keeps its usage under the new limits")
    func inheritance() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 10), dailyQuota: 100)
        try limits.admit(6)
        var settings = limits.settings
        #expect(try limits.reloaded(settings).standing(at: limits.clock.now).rate?.remaining == 4)
        settings.clients[0].rate = RateSettings(perSecond: 5, burst: 20)
        settings.clients[0].dailyQuota = 50
        let grown = try limits.reloaded(settings).standing(at: limits.clock.now)
        #expect(grown.rate == RateLimitStatus(limit: 20, remaining: 14, resetsAfter: 2))
        #expect(grown.quota?.remaining == 44)
        settings.clients[0].rate = RateSettings(perSecond: 1, burst: 4)
        settings.clients[0].dailyQuota = 5
        let shrunk = try limits.reloaded(settings).standing(at: limits.clock.now)
        #expect(shrunk.rate == RateLimitStatus(limit: 4, remaining: 0, resetsAfter: 4))
        #expect(shrunk.quota?.remaining == 0)
    }

    @Test("A request in flight shares the rate of the reloaded client, and another client has its own")
    func sharedUsage() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 1, burst: 2))
        let after = try limits.reloaded(limits.settings)
        try limits.admit()
        try limits.dispatcher.admit(after, feature: "promotional-offer")
        #expect(limits.refusal()?.kind == .rate)
        var settings = limits.settings
        settings.clients[0].name = "another"
        #expect(try limits.reloaded(settings).standing(at: limits.clock.now).rate?.remaining == 2)
    }

    @Test("A rate holds under concurrent requests")
    func concurrency() async throws {
        let limits = try await LimitedGateway(rate: RateSettings(perSecond: 0.001, burst: 500), dailyQuota: 400)
        let admitted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { (0..<100).count { _ in limits.refusal() == nil } } }
            return await group.reduce(0, +)
        }
        #expect(admitted == 400)
    }
}
