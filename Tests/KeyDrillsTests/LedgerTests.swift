import KeyDrills
import Testing

@Suite("Who waits for an answer")
struct LedgerTests {
    @Test("An answer that is here already is found")
    func past() async {
        let ledger = LoadLedger()
        ledger.record(Samples.answer(0, .failed("503")))
        #expect(await ledger.first(within: .seconds(20)) { $0.isFailed } == Samples.answer(0, .failed("503")))
    }

    @Test("An answer that comes later ends the wait, and others do not")
    func future() async {
        let ledger = LoadLedger()
        async let found = ledger.first(within: .seconds(20)) { $0.keyID == "NEWKEY" }
        ledger.record(Samples.answer(0, .served(keyID: "OLDKEY")))
        ledger.record(Samples.answer(5, .served(keyID: "NEWKEY")))
        #expect(await found == Samples.answer(5, .served(keyID: "NEWKEY")))
    }

    @Test("Without such an answer the wait ends in time")
    func timeout() async {
        let ledger = LoadLedger()
        ledger.record(Samples.answer(0, .failed("503")))
        #expect(await ledger.first(within: .milliseconds(20)) { $0.isServed } == nil)
    }

    @Test("When no more answers come, nobody waits any longer")
    func closed() async {
        let ledger = LoadLedger()
        async let waiting = ledger.first(within: .seconds(600)) { $0.isServed }
        ledger.close()
        #expect(await waiting == nil)
        #expect(await ledger.first(within: .seconds(600)) { $0.isServed } == nil)
    }
}
