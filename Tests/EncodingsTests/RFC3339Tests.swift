import Encodings
import Testing

@Suite("Times of RFC 3339")
struct RFC3339Tests {
    private func exactly(_ text: [UInt8]) -> Int64? { text.withUnsafeBufferPointer(RFC3339.milliseconds(exactly:)) }

    @Test("Every day from the year 0 to 9999 has one text, and the text is read as that day")
    func everyDay() {
        for day in stride(from: Int64(-719_528), through: 2_932_896, by: 7) {
            let milliseconds = day * 86_400_000 + 1
            let text = RFC3339.text(milliseconds: milliseconds)
            guard exactly(text) != milliseconds else { continue }
            Issue.record("\(String(decoding: text, as: UTF8.self)) is not day \(day)")
        }
    }

    @Test("The exact form refuses every other form", arguments: ["2027-01-01T00:00:00Z", "2027-01-01t00:00:00.000Z"])
    func exact(_ text: String) {
        #expect(exactly(Array(text.utf8)) == nil)
    }

    @Test("No number of milliseconds stops the program", arguments: [Int64.min, .max, -1, 0])
    func extremes(_ milliseconds: Int64) {
        #expect(RFC3339.text(milliseconds: milliseconds).count == 24)
    }
}
