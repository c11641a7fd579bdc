import ServiceLifecycle
import SigningGateway
import SigningKit
import SigningKitTesting
import Testing

@Suite("The key ring's monitor", .timeLimit(.minutes(1)))
struct KeyRingMonitorTests {
    @Test("Opens and proves the keys by itself, and reports them ready")
    func firstReport() async throws {
        let gateway = try await TestGateway(isOpen: false)
        try await withMonitor(gateway) { monitor in
            while await !monitor.report().allSatisfy({ $0.state == .ready }) { await Task.yield() }
        }
    }

    @Test("Notices an outage and a recovery, asked a second apart")
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

    @Test("A thousand questions cost at most a proof a second for each key")
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

    @Test("Idle keys are proved in the interval of the configuration")
    func interval() async throws {
        let gateway = try await TestGateway(isOpen: false) { $0.proofInterval = .milliseconds(20) }
        try await withMonitor(gateway) { monitor in
            while gateway.place.counts.signatures < 4 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("A key that asks for a PIN each time is proved once, and then by requests alone")
    func asksForEachSignature() async throws {
        let gateway = try await TestGateway(isOpen: false) { $0.proofInterval = .milliseconds(10) }
        gateway.place.asksForEachSignature = true
        try await withMonitor(gateway) { monitor in
            while await !monitor.report().allSatisfy({ $0.state == .ready }) { await Task.yield() }
            let proofs = gateway.place.counts.signatures
            #expect(proofs == 2)
            // Longer than the freshness of a look, so that each question asks for another one.
            for _ in 0..<3 {
                try await Task.sleep(for: .milliseconds(1100))
                #expect(await monitor.report().allSatisfy { $0.state == .ready })
            }
            #expect(gateway.place.counts.signatures == proofs)
            gateway.place.failNext(.loginRefused("wrong PIN"))
            _ = try? await gateway.sign()
            #expect(gateway.active.state == .refused(.loginRefused("wrong PIN")))
        }
    }

    @Test("What is thrown after the first opening ends the monitor")
    func afterOpening() async throws {
        struct Refusal: Error {}
        let gateway = try await TestGateway(isOpen: false)
        let monitor = KeyRingMonitor(gateway.live) { throw Refusal() }
        await #expect(throws: Refusal.self) { try await monitor.run() }
    }

    @Test("Who asks after it stopped is answered at once")
    func stopped() async throws {
        let gateway = try await TestGateway()
        let monitor = KeyRingMonitor(gateway.live)
        let running = Task { try await monitor.run() }
        running.cancel()
        _ = await running.result
        #expect(await monitor.report().count == 2)
    }

    private func withMonitor(_ gateway: TestGateway, _ body: (KeyRingMonitor) async throws -> Void) async throws {
        let monitor = KeyRingMonitor(gateway.live)
        try await withThrowingTaskGroup { group in
            group.addTask { try await monitor.run() }
            try await body(monitor)
            group.cancelAll()
        }
    }
}
