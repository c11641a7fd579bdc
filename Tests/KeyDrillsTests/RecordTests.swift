import Foundation
import StrictJSON
import Testing

@testable import KeyDrills

@Suite("Drill records")
struct RecordTests {
    @Test("A record is unchanged after writing and reading")
    func roundTrip() throws {
        let record = Samples.record(deviations: ["Somebody was late."])
        #expect(try DrillRecord(from: JSONDocument(parsing: JSONText.encode(record)).root) == record)
    }

    @Test("The reader refuses a record of another version")
    func version() throws {
        let text = JSONText.string(Samples.record())
            .replacingOccurrences(of: #""version":1,"#, with: #""version":2,"#)
        #expect(throws: JSONReadError.self) { try DrillRecord(from: JSONDocument(parsing: Array(text.utf8)).root) }
    }

    @Test("A record without deviations has passed and has no complaints")
    func passed() {
        #expect(Samples.record().verdict == .passed)
        #expect(Samples.record().complaints.isEmpty)
    }

    @Test("Excused failures do not fail the drill")
    func excused() {
        #expect(Samples.record(load: Samples.load(failed: 7)).verdict == .passed)
    }

    @Test(
        "A record has failed for each problem and names it",
        arguments: [
            Samples.record(steps: []), Samples.record(steps: [Samples.step(), Samples.step(.failed)]),
            Samples.record(load: Samples.load(failed: 1, unexcused: 1)),
            Samples.record(load: Samples.load(wrong: 1)), Samples.record(load: Samples.load(served: 0)),
        ])
    func failed(_ record: DrillRecord) {
        #expect(record.verdict == .failed)
        #expect(record.complaints.count == 1)
    }

    @Test("The ID of a record sorts by time and is a safe file name")
    func identifier() {
        let ids = [Int64(0), 1].map { DrillID.of(.tokenLoss, begun: Samples.time($0)) }
        #expect(ids == ["20251121T120000000Z-token-loss", "20251121T120000001Z-token-loss"])
        #expect(ids.allSatisfy(DrillID.isWellFormed))
        #expect(DrillID.isWellFormed("20251121T120000Z-token-loss"))
        for id in ["", "../audit", "a/b", ".", "a.json", String(repeating: "a", count: 101)] {
            #expect(!DrillID.isWellFormed(id), "\(id)")
        }
    }

    @Test("The text shows every step and each failure")
    func text() {
        let text = DrillText.text(Samples.record(steps: [Samples.step(.failed)], deviations: ["Somebody was late."]))
        for part in ["FAILED", "It did & more.", "Somebody was late.", "Detection: 3 ms", "entries 3 to 9"] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test("The page escapes text and has room for two signatures")
    func page() {
        let html = DrillPage(Samples.record(), predecessor: Samples.record(begun: -5000), digest: "d1ge57").html
        #expect(html.contains("SHA-256 is d1ge57"))
        #expect(html.contains("Ask &lt;&quot;why&quot;&gt;"))
        #expect(!html.contains("Ask <"))
        #expect(html.components(separatedBy: "<span>Signature</span>").count == 3)
        #expect(html.contains("<svg"))
        #expect(html.contains("Comparison with the previous drill"))
        #expect(!html.contains("<script"))
    }
}
