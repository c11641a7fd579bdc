import KeyDrills
import SigningKit
import Testing

@Suite("Outages during a drill")
struct OutageTests {
    /// A served answer that ended at this time, in milliseconds.
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

    @Test("An outage lasts from the first failed request to the next served one, despite gaps")
    func outages() {
        let among = [Self.served(50), Self.failed(60), Self.served(100)]
        #expect(Self.outages(among, to: 200).isEmpty)
        let answers = [Self.served(50), Self.failed(100), Self.failed(350), Self.served(400), Self.failed(500)]
        #expect(Self.outages(answers, to: 600) == [Self.range(100, 400), Self.range(500, 600)])
    }

    @Test("More than five seconds without an answer are an outage")
    func silence() {
        #expect(Self.outages([Self.served(100), Self.served(5100)], to: 6000).isEmpty)
        #expect(Self.outages([Self.served(100), Self.served(8600)], to: 9000) == [Self.range(100, 8600)])
        // The time before the first answer counts, too.
        #expect(Self.outages([Self.served(5001)], to: 6000) == [Self.range(0, 5001)])
    }

    @Test("An outage begins when the first failed request begins, not when it times out")
    func timeOut() {
        let answers = [Self.served(100), Self.failed(105, lasting: 10_000), Self.failed(110, lasting: 4000)]
        #expect(Self.outages(answers, to: 12_000) == [Self.range(105, 12_000)])
    }

    @Test("The time after the last request is not an outage")
    func usedUp() {
        #expect(Self.outages([Self.served(100)], to: 60_000).isEmpty)
    }

    @Test("An outage splits the span of the active key only")
    func spans() {
        let spans = [
            KeyStateSpan(keyID: "A", state: "active", begin: Samples.time(0), end: Samples.time(1000)),
            KeyStateSpan(keyID: "B", state: "staged", begin: Samples.time(0), end: Samples.time(1000)),
        ]
        let split = spans.flatMap { $0.split(at: [Self.range(200, 300), Self.range(900, 1200)]) }
        #expect(split.map(\.keyID) == ["A", "A", "A", "A", "B"])
        #expect(split.map(\.state) == ["active", "active, down", "active", "active, down", "staged"])
        #expect(split.map(\.begin) == [0, 200, 300, 900, 0].map { Samples.time($0) })
        #expect(split.map(\.end) == [200, 300, 900, 1000, 1000].map { Samples.time($0) })
    }

    @Test("A change-over in a fleet may take four seconds", arguments: [(1001, false), (4000, true), (4001, true)])
    func fleet(span: Int64, isInFleet: Bool) {
        let log = DrillLog(Samples.record(), clock: { Samples.time(0) }, progress: { _ in })
        log.time(\.changeOver, from: Samples.time(0), to: Samples.time(span))
        log.judgeSpans([], isInFleet: isInFleet)
        #expect(log.record.deviations.isEmpty == (span == 4000))
    }

    @Test("A long outage and a slow restoration are deviations, and the token's absence is not")
    func deviations() {
        let long = [Self.range(100, 10_300)]
        func log() -> DrillLog { DrillLog(Samples.record(), clock: { Samples.time(0) }, progress: { _ in }) }
        let slow = log()
        slow.time(\.restoration, from: Samples.time(0), to: Samples.time(5001))
        slow.judgeSpans(long, isInFleet: false)
        #expect(slow.record.deviations.count == 2)
        #expect(slow.record.deviations.last == "No request was served for 10200 ms; at most 5000 ms are expected.")
        let quick = log()
        quick.time(\.restoration, from: Samples.time(0), to: Samples.time(5000))
        quick.absence = 5200
        quick.judgeSpans(long, isInFleet: false)
        #expect(quick.record.deviations.isEmpty)
    }
}
