import AuditKit
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import AuditLog

@Suite("Clock steps")
struct ClockTests {
    private static let hour = Duration.seconds(3600)

    @Test("The log records a step in either direction before the first entry with the new time")
    func recorded() async throws {
        let clock = SteppedClock()
        let gateway = try await AuditedGateway(clock: clock)
        _ = try await gateway.sign()
        let before = clock.now
        clock.set(by: Self.hour * 25)
        _ = try await gateway.sign()
        clock.advance(by: .seconds(2.5))
        clock.set(by: Self.hour * -53)
        _ = try await gateway.sign()
        let entries = gateway.store.content.entries.compactMap { EntryFields($0.body) }
        let kinds = entries.compactMap(\.kind).filter { $0 != "key" }
        #expect(kinds == ["signature", "clock", "signature", "clock", "signature"])
        let steps = entries.filter { $0.kind == "clock" }
        #expect(steps.map { $0.integer("milliseconds") } == [90_000_000, -190_800_000])
        #expect(steps.first?.text("before") == String(decoding: before.rfc3339, as: UTF8.self))
        #expect(steps.map(\.time) == entries.filter { $0.kind == "signature" }.suffix(2).map(\.time))
        await gateway.audit.close()
    }

    @Test("Elapsed time and differences of less than a second are not steps")
    func noStep() async throws {
        let clock = SteppedClock()
        let gateway = try await AuditedGateway(clock: clock)
        for _ in 0..<100 {
            clock.advance(by: Self.hour)
            gateway.audit.clock.check()
        }
        clock.set(by: .milliseconds(999))
        gateway.audit.clock.check()
        clock.set(by: .milliseconds(-999))
        _ = try await gateway.sign()
        #expect(gateway.store.entries("clock").isEmpty)
        // Several small steps count as one large step.
        for _ in 0..<3 {
            clock.set(by: .milliseconds(400))
            gateway.audit.clock.check()
        }
        _ = try await gateway.sign()
        #expect(gateway.store.entries("clock").map { $0.integer("milliseconds") } == [1200])
        await gateway.audit.close()
    }

    @Test("A log that is opened with a clock before its last entry records this")
    func setBackBetween() async throws {
        let clock = SteppedClock()
        let gateway = try await AuditedGateway(clock: clock)
        _ = try await gateway.sign()
        let last = clock.now
        await gateway.audit.close()
        clock.set(by: Self.hour * -28)
        let store = gateway.store
        let log = AuditLog(signer: gateway.signer, now: { clock.now }, uptime: { clock.uptime }) {
            () throws(AuditStoreError) in store
        }
        try log.open()
        try await log.record(.stop)
        let step = try #require(store.entries("clock").first)
        #expect(step.integer("milliseconds") == -100_800_000)
        #expect(step.text("before") == String(decoding: last.rfc3339, as: UTF8.self))
        await log.close()
    }
}
