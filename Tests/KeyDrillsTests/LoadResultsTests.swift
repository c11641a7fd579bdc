import KeyDrills
import Testing

@Suite("Waiting for load results")
struct LedgerTests {
    @Test("first finds a result that is already recorded")
    func past() async {
        let results = LoadResults()
        results.record(Samples.answer(0, .failed("503")))
        #expect(await results.first(within: .seconds(20)) { $0.isFailed } == Samples.answer(0, .failed("503")))
    }

    @Test("first waits for a matching result and ignores others")
    func future() async {
        let results = LoadResults()
        async let found = results.first(within: .seconds(20)) { $0.keyID == "NEWKEY" }
        results.record(Samples.answer(0, .served(keyID: "OLDKEY")))
        results.record(Samples.answer(5, .served(keyID: "NEWKEY")))
        #expect(await found == Samples.answer(5, .served(keyID: "NEWKEY")))
    }

    @Test("first returns nil after its timeout")
    func timeout() async {
        let results = LoadResults()
        results.record(Samples.answer(0, .failed("503")))
        #expect(await results.first(within: .milliseconds(20)) { $0.isServed } == nil)
    }

    @Test("first returns nil when the results are closed")
    func closed() async {
        let results = LoadResults()
        async let waiting = results.first(within: .seconds(600)) { $0.isServed }
        results.close()
        #expect(await waiting == nil)
        #expect(await results.first(within: .seconds(600)) { $0.isServed } == nil)
    }
}
