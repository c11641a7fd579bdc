import SigningKit
import Synchronization
import Testing

@testable import Signing

/// Shared values in memory, with the clock of a test.
final class MemorySharedValues: SharedValues {
    private let clock: LimitedGateway.Clock
    private let values = Mutex<[String: [UInt8]]>([:])
    private let changes = Mutex(0)
    let isBroken = Mutex(false)

    init(_ clock: LimitedGateway.Clock) { self.clock = clock }

    var count: Int { changes.withLock { $0 } }

    func update(_ name: String, _ change: @escaping @Sendable ([UInt8]?, Timestamp) -> [UInt8]) async -> Bool {
        guard !isBroken.withLock({ $0 }) else { return false }
        values.withLock { $0[name] = change($0[name], clock.now.wall) }
        changes.withLock { $0 += 1 }
        return true
    }

    func seal(_ secret: [UInt8], as name: String) -> [UInt8]? { secret }
    func open(_ sealed: [UInt8], as name: String) -> [UInt8]? { sealed }
}

@Suite("The limits of a client that several gateways share")
struct LeasedLimitTests {
    let clock = LimitedGateway.Clock()
    let shared: MemorySharedValues
    let usages = [ClientUsage(), ClientUsage(), ClientUsage()]

    init() { shared = MemorySharedValues(clock) }

    private func admit(
        _ usage: ClientUsage, _ limits: ClientLimits, count: Int = 1, taken: Int = 0
    ) async -> Bool {
        do throws(LeaseError) {
            _ = try await usage.takeShared(
                count, giving: taken, within: limits, from: shared, now: { [clock] in clock.now })
            return true
        } catch {
            return false
        }
    }

    private func giveBack(_ usage: ClientUsage, _ limits: ClientLimits) async {
        await usage.giveBack(everything: false, within: limits, to: shared) { [clock] in clock.now }
    }

    @Test("The sum of all gateways stays within the rate, whichever of them is asked")
    func rate() async {
        let limits = ClientLimits(client: "a", rate: RateSettings(perSecond: 100, burst: 10), dailyQuota: nil)
        var admitted = 0
        for step in 0..<2000 {
            // One gateway gets most of the requests.
            if await admit(usages[step % 7 == 0 ? 1 : 0], limits) { admitted += 1 }
            clock.pass(milliseconds: 2)
        }
        #expect((380...410).contains(admitted))
    }

    @Test("The quota is used up once, and what a gateway does not use is given back")
    func quota() async {
        let limits = ClientLimits(client: "a", rate: nil, dailyQuota: 30)
        var admitted = 0
        for step in 0..<40 {
            if await admit(usages[step % 3], limits) { admitted += 1 }
            clock.pass(milliseconds: 5)
        }
        #expect(admitted <= 30)
        clock.pass(milliseconds: 3000)
        for usage in usages { await giveBack(usage, limits) }
        while await admit(usages[0], limits) { admitted += 1 }
        #expect(admitted == 30)
        #expect(await !admit(usages[2], limits))
    }

    @Test("A batch takes all of its requests from the shared limits, or none")
    func batches() async {
        let limits = ClientLimits(client: "a", rate: RateSettings(perSecond: 1, burst: 10), dailyQuota: nil)
        #expect(await admit(usages[0], limits))
        #expect(await admit(usages[0], limits, count: 8, taken: 1))
        #expect(await !admit(usages[1], limits, count: 5))
        clock.pass(milliseconds: 30)
        #expect(await admit(usages[1], limits, count: 2))
    }

    @Test("A client far from its limits is not refused, and few leases serve many requests")
    func many() async {
        let limits = ClientLimits(
            client: "a", rate: RateSettings(perSecond: 100_000, burst: 1_000_000), dailyQuota: nil)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 { group.addTask { await self.admit(self.usages[0], limits) } }
            for await isAdmitted in group { #expect(isAdmitted) }
        }
        // The first leases are small, and the requests that wait for them are served nevertheless.
        for _ in 0..<1000 {
            #expect(await admit(usages[1], limits))
            clock.pass(milliseconds: 1)
        }
        #expect(shared.count < 1200)
    }

    @Test("Without the database, a gateway admits what it has leased, and nothing more")
    func broken() async {
        let limits = ClientLimits(client: "a", rate: RateSettings(perSecond: 1, burst: 5), dailyQuota: nil)
        #expect(await admit(usages[0], limits))
        shared.isBroken.withLock { $0 = true }
        clock.pass(milliseconds: 50)
        #expect(await !admit(usages[0], limits, count: 5))
    }
}
