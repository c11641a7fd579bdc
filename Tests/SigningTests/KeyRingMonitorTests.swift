import GatewayTesting
import ServiceLifecycle
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("The key ring monitor", .timeLimit(.minutes(1)))
struct KeyRingMonitorTests {
    @Test("The monitor opens and proves the keys and reports them ready")
    func firstReport() async throws {
        let gateway = try await TestGateway(isOpen: false)
        try await withMonitor(gateway) { monitor in
            while await !monitor.report().allSatisfy({ $0.state == .ready }) { await Task.yield() }
        }
    }

    @Test("The monitor detects an outage and a recovery")
    func outage() async throws {
        let gateway = try await TestGateway(isOpen: false)
        try await withMonitor(gateway) { monitor in
            while await monitor.report()[0].state != .ready { await Task.yield() }
            gateway.place.outage = .unavailable("gone")
            while await monitor.report()[0].state == .ready { await Task.yield() }
            #expect(gateway.active.state == .down(.unavailable("gone")))
            gateway.place.outage = nil
            while await monitor.report()[0].state != .ready { await Task.yield() }
        }
    }

    @Test("A thousand reports cost each key at most one proof per second")
    func coalesces() async throws {
        let gateway = try await TestGateway(isOpen: false)
        try await withMonitor(gateway) { monitor in
            let start = ContinuousClock.now
            for _ in 0..<1000 { _ = await monitor.report() }
            let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 2
            #expect(gateway.place.counts.signatures <= 2 * seconds)
            #expect(gateway.place.counts.openings == 1)
        }
    }

    @Test("Idle keys sign a proof at the configured interval")
    func interval() async throws {
        let gateway = try await TestGateway(isOpen: false) { $0.proofInterval = .milliseconds(20) }
        let begun = ContinuousClock.now
        try await withMonitor(gateway) { monitor in
            while gateway.place.counts.signatures < 4 { try await Task.sleep(for: .milliseconds(5)) }
        }
        // The default interval is ten seconds.
        #expect(.now - begun < .seconds(9))
    }

    @Test("A key that proves itself on demand signs one proof and then only requests")
    func onDemand() async throws {
        let gateway = try await TestGateway(isOpen: false) { $0.proofInterval = .milliseconds(10) }
        gateway.place.proofSchedule = .onDemand
        try await withMonitor(gateway) { monitor in
            while await !monitor.report().allSatisfy({ $0.state == .ready }) { await Task.yield() }
            let proofs = gateway.place.counts.signatures
            #expect(proofs == 2)
            // Longer than an observed state stays fresh, so that the report observes the keys again.
            try await Task.sleep(for: .milliseconds(1100))
            #expect(await monitor.report().allSatisfy { $0.state == .ready })
            #expect(gateway.place.counts.signatures == proofs)
            gateway.place.failNext(.loginRefused("wrong PIN"))
            _ = try? await gateway.sign()
            #expect(gateway.active.state == .refused(.loginRefused("wrong PIN")))
        }
    }

    @Test("A token that hangs does not delay the report about a key with another token")
    func hangingPlace() async throws {
        let gateway = try await ReplicatedGateway()
        try await withMonitor(SnapshotHolder(gateway.audited.snapshot)) { monitor in
            _ = await monitor.report()
            gateway.places[0].hold()
            let before = gateway.places[1].counts.signatures
            // Longer than an observed state stays fresh, so that the report needs a proof.
            try await Task.sleep(for: .milliseconds(1100))
            #expect(await monitor.report()[0].state.canSign)
            #expect(gateway.places[1].counts.signatures > before)
            await gateway.places[0].busy(with: 1)
            #expect(gateway.states == ["ready", "ready"])
        }
    }

    @Test("An error after the first opening ends the monitor")
    func afterOpening() async throws {
        struct Refusal: Error {}
        let gateway = try await TestGateway(isOpen: false)
        let monitor = KeyRingMonitor(gateway.snapshots) { throw Refusal() }
        await #expect(throws: Refusal.self) { try await monitor.run() }
    }

    @Test("A stopped monitor reports at once")
    func stopped() async throws {
        let gateway = try await TestGateway()
        let monitor = KeyRingMonitor(gateway.snapshots)
        let running = Task { try await monitor.run() }
        running.cancel()
        _ = await running.result
        #expect(await monitor.report().count == 2)
    }

    private func withMonitor(_ gateway: TestGateway, _ body: (KeyRingMonitor) async throws -> Void) async throws {
        try await withMonitor(gateway.snapshots, body)
    }

    private func withMonitor(_ snapshots: SnapshotHolder, _ body: (KeyRingMonitor) async throws -> Void) async throws {
        let monitor = KeyRingMonitor(snapshots)
        try await withThrowingTaskGroup { group in
            group.addTask { try await monitor.run() }
            try await body(monitor)
            group.cancelAll()
        }
    }
}
