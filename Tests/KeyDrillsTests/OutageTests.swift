import KeyDrills
import SigningKit
import Testing

@Suite("Outages during a drill")
struct OutageTests {
    /// An answer that was served, at this moment.
    private static func served(_ ended: Int64) -> LoadAnswer {
        Samples.answer(ended - 5, .served(keyID: "OLDKEY"))
    }

    private static func failed(_ begun: Int64, lasting: Int64 = 5) -> LoadAnswer {
        Samples.answer(begun, .failed("503"), lasting: lasting)
    }

    private static func outages(_ answers: [LoadAnswer], to end: Int64) -> [Range<Timestamp>] {
        ServiceOutages.find(in: answers, from: Samples.time(0), to: Samples.time(end))
    }

    private static func range(_ begin: Int64, _ end: Int64) -> Range<Timestamp> {
        Samples.time(begin)..<Samples.time(end)
    }

    @Test("An outage lasts from the first failed request to the next served one, also across a silence")
    func outages() {
        let among = [Self.served(50), Self.failed(60), Self.served(100)]
        #expect(Self.outages(among, to: 200).isEmpty)
        let answers = [Self.served(50), Self.failed(100), Self.failed(350), Self.served(400), Self.failed(500)]
        #expect(Self.outages(answers, to: 600) == [Self.range(100, 400), Self.range(500, 600)])
    }

    @Test("A gateway that answers nothing for more than five seconds is an outage, although no request failed")
    func silence() {
        #expect(Self.outages([Self.served(100), Self.served(5100)], to: 6000).isEmpty)
        #expect(Self.outages([Self.served(100), Self.served(8600)], to: 9000) == [Self.range(100, 8600)])
        // Before the first answer, too.
        #expect(Self.outages([Self.served(5001)], to: 6000) == [Self.range(0, 5001)])
    }

    @Test("An outage begins when the first request that failed began, and not when its time was over")
    func timeOut() {
        let answers = [Self.served(100), Self.failed(105, lasting: 10_000), Self.failed(110, lasting: 4000)]
        #expect(Self.outages(answers, to: 12_000) == [Self.range(105, 12_000)])
    }

    @Test("A load that has sent all its requests is no outage")
    func usedUp() {
        #expect(Self.outages([Self.served(100)], to: 60_000).isEmpty)
    }

    @Test("The span of an active key is split at an outage, and that of another key is not")
    func spans() {
        let spans = [
            DrillRecord.KeySpan(keyID: "A", state: "active", begin: Samples.time(0), end: Samples.time(1000)),
            DrillRecord.KeySpan(keyID: "B", state: "staged", begin: Samples.time(0), end: Samples.time(1000)),
        ]
        let split = DrillRecord.KeySpan.splitting(spans, at: [Self.range(200, 300), Self.range(900, 1200)])
        #expect(split.map(\.keyID) == ["A", "A", "A", "A", "B"])
        #expect(split.map(\.state) == ["active", "active, down", "active", "active, down", "staged"])
        #expect(split.map(\.begin) == [0, 200, 300, 900, 0].map { Samples.time($0) })
        #expect(split.map(\.end) == [200, 300, 900, 1000, 1000].map { Samples.time($0) })
    }

    @Test("A long outage and a slow restoration are deviations; the time for which the token was away is not")
    func deviations() {
        let long = [Self.range(100, 10_300)]
        func sheet() -> DrillSheet { DrillSheet(clock: { Samples.time(0) }, progress: { _ in }) }
        let slow = sheet()
        slow.time(.restoration, from: Samples.time(0), to: Samples.time(5001))
        slow.judgeSpans(long)
        #expect(slow.deviations.count == 2)
        #expect(slow.deviations.last == "No request was served for 10200 ms; at most 5000 ms are expected.")
        let quick = sheet()
        quick.time(.restoration, from: Samples.time(0), to: Samples.time(5000))
        quick.absence = 5200
        quick.judgeSpans(long)
        #expect(quick.deviations.isEmpty)
    }
}
