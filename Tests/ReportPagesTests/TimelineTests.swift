import ReportPages
import Testing

@Suite("The throughput timeline")
struct TimelineTests {
    @Test("keys differ in pattern, and the row and the legend name each key")
    func keys() {
        let svg = Self.timeline().html.text
        #expect(svg.contains("fill=\"url(#key-0)\"") && svg.contains("fill=\"url(#key-1)\""))
        #expect(svg.components(of: ">KEYONE0001</text>") == 2)
        #expect(svg.components(of: ">KEYTWO0002</text>") == 2)
        #expect(svg.contains(">retiring</text>"))
    }

    @Test("labels of simultaneous events are on separate rows")
    func rows() {
        var timeline = Self.timeline()
        timeline.events = (1...5).map { (at: 30, label: "step \($0)") }
        let svg = timeline.html.text
        let places = svg.split(separator: "\n").filter { $0.contains("step ") }
            .compactMap { $0.split(separator: "cy=\"").last?.split(separator: "\"").first }
        #expect(Set(places).count == 5)
    }

    @Test("one failure among thousands is visible")
    func failure() {
        var timeline = Self.timeline()
        timeline.failures = [0, 0, 1]
        #expect(timeline.html.text.contains("fill=\"#7d0f0b\"/>\n"))
        timeline.failures = [0, 0, 0]
        #expect(!timeline.html.text.contains("Z\" fill=\"#7d0f0b\"/>"))
    }

    @Test(
        "invalid numbers do not crash the timeline",
        arguments: [
            Double.nan, .infinity, -.infinity, -1, 0, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        ])
    func strangeNumbers(_ number: Double) {
        var timeline = Self.timeline()
        timeline.series[0].counts[3] = number
        timeline.failures = [number]
        timeline.bands[0].to = number
        timeline.events[0].at = number
        #expect(!timeline.html.text.contains("nan"))
        timeline.duration = number
        #expect(!timeline.html.text.contains("nan"))
        timeline.interval = number
        #expect(!timeline.html.text.contains("inf"))
    }

    @Test("a timeline without measurements is a sentence")
    func empty() {
        let html = Timeline(caption: "Load", duration: 0, interval: 1, series: []).html.text
        #expect(html == "<p>Load: nothing was measured.</p>\n")
    }

    static func timeline() -> Timeline {
        let (first, second) = ("KEYONE0001", "KEYTWO0002")
        return Timeline(
            caption: "Throughput", duration: 60, interval: 1,
            series: [
                (first, counts: (0..<60).map { $0 < 30 ? 1500 : 20 }),
                (second, counts: (0..<60).map { $0 < 30 ? 0 : 1480 }),
            ],
            bands: [
                (first, "active", from: 0, to: 30, isHollow: false),
                (first, "retiring", from: 30, to: 50, isHollow: false),
                (second, "staged", from: 0, to: 30, isHollow: true),
                (second, "active", from: 30, to: 60, isHollow: false),
            ],
            events: [(at: 5, "prove the new key"), (at: 30, "activate"), (at: 50, "retire-at")])
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
