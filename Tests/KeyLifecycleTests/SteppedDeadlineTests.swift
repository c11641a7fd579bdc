import AuditKit
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import AuditLog
@testable import KeyLifecycle
@testable import Signing

@Suite("Deadlines after clock steps")
struct SteppedDeadlineTests {
    private static let hour = Duration.seconds(3600)

    @Test("A forward step does not retire a key, and the key still signs by name")
    func retirement() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        try await fixture.activate(clock, overlap: 36_000)
        clock.set(by: Self.hour * 25)
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retiring)
        _ = try await fixture.sign(keyID: "ACTIVE")
        #expect(fixture.lifecycle.overview().differences.contains { $0.contains("ACTIVE should have retired by now") })
        clock.set(by: Self.hour * -25)
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retiring)
        #expect(!fixture.lifecycle.overview().differences.contains { $0.contains("should have retired") })
        clock.advance(by: Self.hour * 10)
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", .retired)) { try await fixture.sign(keyID: "ACTIVE") }
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retired)
        await fixture.close()
    }

    @Test(
        "Overlaps and proposals end in time, whatever the clock showed when they began",
        arguments: [-28, 5])
    func setBefore(_ hours: Int) async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        clock.set(by: Self.hour * hours)
        try await fixture.activate(clock, overlap: 86_400)
        clock.set(by: Self.hour * -hours)
        clock.advance(by: Self.hour * 23)
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retiring)
        _ = try await fixture.sign(keyID: "ACTIVE")
        clock.advance(by: Self.hour)
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", .retired)) { try await fixture.sign(keyID: "ACTIVE") }
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retired)
        await fixture.close()
    }

    @Test("A key whose retirement time has passed cannot be activated again")
    func noActivationAfterRetirement() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        try await fixture.activate(clock, overlap: 3600)
        clock.advance(by: Self.hour)
        let order = KeyChangeOrder(.activate, "ACTIVE", reason: "x", retiring: "OTHER", overlap: 3600)
        let refusal = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(order, by: "alice")
        }
        #expect(refusal?.description.contains("The retirement time of the key ACTIVE has passed") == true)
        await fixture.close()
    }

    @Test("A key retires in time if the clock was corrected before its overlap began")
    func setRightBefore() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        clock.set(by: Self.hour * 5)
        try await fixture.activate(clock, overlap: 2)
        clock.advance(by: .seconds(2))
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", .retired)) { try await fixture.sign(keyID: "ACTIVE") }
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .retired)
        await fixture.close()
    }

    @Test(
        "A deadline of an earlier process is not over before the wall clock reaches it"
    )
    func deadlineOfAnEarlierProcess() {
        let clock = SteppedClock()
        let monitor = ClockMonitor(now: { clock.now }, uptime: { clock.uptime })
        let deadline = Deadline(time: clock.now.later(by: 36_000), stepped: nil)
        clock.set(by: Self.hour * 11)
        #expect(!monitor.isOver(deadline))
        clock.set(by: Self.hour * -12)
        clock.advance(by: Self.hour * 10)
        #expect(!monitor.isOver(deadline))
        clock.advance(by: Self.hour)
        #expect(monitor.isOver(deadline))
    }

    @Test(
        "After a forward step, proposals stay usable until their lifetime ends"
    )
    func proposalsAfterStep() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock) {
            $0.accounts[0].hasDualControl = true
            $0.accounts[0].proposalLifetime = .seconds(60)
        }
        var ids: [String] = []
        for overlap in 1...KeyLifecycleLimits.proposalsOfOne {
            let order = KeyChangeOrder(.activate, "OTHER", reason: "x", retiring: "ACTIVE", overlap: overlap)
            let proposal = try #require(try await fixture.lifecycle.change(order, by: "alice").proposed)
            ids.append(proposal.id)
        }
        clock.set(by: Self.hour * 2)
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.lifecycle.overview().proposals.map(\.id) == ids)
        try await fixture.lifecycle.reject(ids[0], by: "bob")
        clock.advance(by: .seconds(60))
        #expect(fixture.lifecycle.overview().proposals.isEmpty)
        // An expired proposal can be rejected until `keepUp` removes it.
        try await fixture.lifecycle.reject(ids[1], by: "bob")
        await fixture.lifecycle.processDeadlines()
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.reject(ids[2], by: "bob") }
        await fixture.close()
    }

    @Test("A forward step does not expire a proposal")
    func proposals() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock) { $0.accounts[0].hasDualControl = true }
        _ = try await fixture.change(.compromise, "OTHER")
        let proposal = try #require(try await fixture.change(.restore, "OTHER").proposed)
        clock.set(by: Self.hour * 25)
        await fixture.lifecycle.processDeadlines()
        clock.set(by: Self.hour * -25)
        _ = try #require(try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob").done)
        await fixture.close()
    }
}

extension LifecycleTestGateway {
    /// Activates OTHER, and retires ACTIVE after `overlap` seconds.
    fileprivate func activate(_ clock: SteppedClock, overlap: Int) async throws {
        let change = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: overlap, watch: 0)
        // The change waits until the next millisecond.
        let ticking = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(1))
                await Task.yield()
            }
        }
        _ = try await lifecycle.change(change, by: "alice")
        ticking.cancel()
        await ticking.value
    }
}
