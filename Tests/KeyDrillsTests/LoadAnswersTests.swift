import SigningKit
import Testing

@testable import KeyDrills

@Suite("Waiting for an answer of the load")
struct LoadAnswersTests {
    /// Gives the body a driver that sends no request, and whose target does not exist.
    private func withDriver(_ body: (LoadDriver) async throws -> Void) async throws {
        let target = try #require(LoadTarget("unix:/nonexistent", token: nil, tls: nil, connections: 1))
        let settings = LoadSettings(connections: 1, rate: 1, total: 1)
        do {
            try await body(
                LoadDriver(settings, to: target, bundleID: "com.example.app", requests: []) { Samples.time(0) })
        } catch {
            await target.close()
            throw error
        }
        await target.close()
    }

    @Test("first finds an answer that is already recorded")
    func past() async throws {
        try await withDriver { driver in
            driver.record(Samples.answer(0, .failed("503")))
            #expect(await driver.first(within: .seconds(20)) { $0.isFailed } == Samples.answer(0, .failed("503")))
        }
    }

    @Test("first waits for a matching answer and ignores others")
    func future() async throws {
        try await withDriver { driver in
            async let found = driver.first(within: .seconds(20)) { $0.keyID == "NEWKEY" }
            driver.record(Samples.answer(0, .served(keyID: "OLDKEY")))
            driver.record(Samples.answer(5, .served(keyID: "NEWKEY")))
            #expect(await found == Samples.answer(5, .served(keyID: "NEWKEY")))
        }
    }

    @Test("first returns nil after its timeout")
    func timeout() async throws {
        try await withDriver { driver in
            driver.record(Samples.answer(0, .failed("503")))
            #expect(await driver.first(within: .milliseconds(20)) { $0.isServed } == nil)
        }
    }

    @Test("first returns nil when the load is over, and in a cancelled task")
    func over() async throws {
        try await withDriver { driver in
            let cancelled = Task { await driver.first(within: .seconds(600)) { $0.isServed } }
            cancelled.cancel()
            #expect(await cancelled.value == nil)
            async let waiting = driver.first(within: .seconds(600)) { $0.isServed }
            await driver.run()
            #expect(await waiting == nil)
            #expect(await driver.first(within: .seconds(600)) { $0.isServed } == nil)
        }
    }
}
