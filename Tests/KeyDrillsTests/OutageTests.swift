import KeyDrills
import SigningKit
import Testing

@Suite("Outages during a drill")
struct OutageTests {
    /// One interval of 100 ms for each pair.
    private static func load(_ intervals: [(served: Int, failed: Int)]) -> LoadSummary {
        LoadSummary(
            served: 1, failed: 0, unexcused: 0, wronglySigned: 0, byKey: [:], byReason: [:], intervalLength: 100,
            intervals: intervals.enumerated().map { index, interval in
                LoadSummary.Interval(
                    begin: Samples.time(Int64(index) * 100), served: interval.served, failed: interval.failed)
            })
    }

    private static func range(_ begin: Int64, _ end: Int64) -> Range<Timestamp> {
        Samples.time(begin)..<Samples.time(end)
    }

    @Test("An outage lasts from the first failed request to the next served one, also across a silence")
    func outages() {
        #expect(Self.load([(3, 0), (2, 1), (0, 0), (4, 0)]).outages.isEmpty)
        let load = Self.load([(3, 0), (0, 2), (0, 0), (0, 1), (4, 0), (0, 1)])
        #expect(load.outages == [Self.range(100, 400), Self.range(500, 600)])
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

    @Test("A long outage and a slow restoration are deviations; what the drill itself took away is not")
    func deviations() {
        let long = Self.load([(1, 0)] + [(Int, Int)](repeating: (0, 1), count: 102) + [(1, 0)])
        func sheet() -> DrillSheet { DrillSheet(clock: { Samples.time(0) }, progress: { _ in }) }
        let slow = sheet()
        slow.time(.restoration, from: Samples.time(0), to: Samples.time(5001))
        slow.judgeSpans(long, excused: 0)
        #expect(slow.deviations.count == 2)
        #expect(slow.deviations.last == "No request was served for 10200 ms; at most 5000 ms are expected.")
        let quick = sheet()
        quick.time(.restoration, from: Samples.time(0), to: Samples.time(5000))
        quick.judgeSpans(long, excused: 5200)
        #expect(quick.deviations.isEmpty)
    }
}
