import StrictJSON
import Testing

@testable import KeyDrills

@Suite("Comparison of two drills")
struct ComparisonTests {
    private let comparison = DrillComparison(
        earlier: Samples.record(timings: DrillTimings(detection: 3, recovery: 40), deviations: ["Late.", "Loud."]),
        later: Samples.record(
            begun: 60_000, load: Samples.load(failed: 2), timings: DrillTimings(detection: 5, stop: 1, recovery: 30),
            deviations: ["Loud.", "Dark."]))

    private func line(_ name: String) throws -> DrillComparison.Line {
        try #require(comparison.lines.first { $0.name == name })
    }

    @Test("Longer times and more failures are worse, shorter times are better")
    func worse() throws {
        #expect(try line("Detection").worse == true)
        #expect(try line("Recovery").worse == false)
        #expect(try line("Failed").worse == true)
    }

    @Test("Equal values and values of only one drill are neither better nor worse")
    func neither() throws {
        #expect(try line("Stop").worse == nil)
        #expect(try line("Wrongly signed").worse == nil)
        #expect(try line("Served").worse == nil)
        #expect(!comparison.lines.contains { $0.name == "Change-over" })
    }

    @Test("The comparison lists new deviations and gone ones")
    func deviations() {
        #expect(comparison.newDeviations == ["Dark."])
        #expect(comparison.goneDeviations == ["Late."])
    }

    @Test("The comparison has a text form and a JSON form")
    func output() throws {
        let text = DrillText.text(comparison)
        #expect(text.contains("5 ms"))
        #expect(text.contains("worse"))
        #expect(text.contains("New deviation: Dark."))
        let object = try JSONDocument(parsing: JSONText.encode(comparison)).root.anyObject()
        #expect(object.names == ["scenario", "earlier", "later", "lines"])
    }
}
