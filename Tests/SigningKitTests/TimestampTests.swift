import SigningKit
import Testing

@Suite("RFC 3339 timestamps")
struct TimestampTests {
    private func moment(_ text: String) -> Timestamp? { Timestamp(rfc3339: Array(text.utf8)) }

    @Test("Timestamps of the years 0 to 9999 are unchanged after writing and reading")
    func roundTrips() {
        var milliseconds: Int64 = -62_167_219_200_000
        var step: Int64 = 1
        while milliseconds < 253_402_300_800_000 {
            let written = Timestamp(milliseconds: milliseconds).rfc3339
            #expect(Timestamp(rfc3339: written)?.milliseconds == milliseconds)
            // A pseudo-random step, which over time reaches every hour, day, month and leap year.
            step = (step &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407) & 0x1ff_ffff_ffff
            milliseconds += step % 90_000_000_000
        }
    }

    @Test("Every day from the year 0 to 9999 has one text, and the text is read as that day")
    func everyDay() {
        for day in stride(from: Int64(-719_528), through: 2_932_896, by: 7) {
            let time = Timestamp(milliseconds: day * 86_400_000 + 1)
            guard Timestamp(rfc3339: time.rfc3339) != time else { continue }
            Issue.record("\(time.text) is not day \(day)")
        }
    }

    @Test("No number of milliseconds stops the program", arguments: [Int64.min, .max, -1, 0])
    func extremes(_ milliseconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339.count == 24)
    }

    @Test(
        "Other forms of RFC 3339 are read as the same time",
        arguments: [
            "2027-01-01T00:00:00Z", "2027-01-01t00:00:00.000z", "2027-01-01T02:00:00.0001+02:00",
            "2026-12-31T16:30:00-07:30",
        ])
    func anyForm(_ text: String) {
        #expect(Timestamp(anyRFC3339: text) == Timestamp(milliseconds: 1_798_761_600_000))
        #expect(Timestamp(anyRFC3339: text)?.secondText == "2027-01-01T00:00:00")
    }

    @Test(
        "Texts without a zone, with a wrong zone or without digits after the point are refused in every form",
        arguments: [
            "2027-01-01T00:00:00", "2027-01-01T00:00:00+2:00", "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00 Z",
        ])
    func refusedInEveryForm(_ text: String) {
        #expect(Timestamp(anyRFC3339: text) == nil)
    }

    @Test(
        "The boundaries of days, months and years are correct",
        arguments: [
            ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T00:00:00.000Z", 951_782_400_000), ("2024-12-31T23:59:59.999Z", 1_735_689_599_999),
            ("0000-01-01T00:00:00.000Z", -62_167_219_200_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ])
    func known(_ text: String, _ milliseconds: Int64) throws {
        #expect(try #require(moment(text)).milliseconds == milliseconds)
        #expect(String(decoding: Timestamp(milliseconds: milliseconds).rfc3339, as: UTF8.self) == text)
    }

    @Test(
        "Invalid texts and nonexistent times are refused",
        arguments: [
            "", "2026-11-21T13:27:00Z", "2026-11-21T13:27:00.12Z", "2026-11-21T13:27:00.1234Z",
            "2026-11-21 13:27:00.123Z", "2026-11-21t13:27:00.123Z", "2026-11-21T13:27:00.123z",
            "2026-11-21T13:27:00,123Z", "2026/11/21T13:27:00.123Z", "2026-11-21T13.27:00.123Z",
            "2026-11-21T13:27.00.123Z", "2026-00-21T13:27:00.123Z", "2026-13-21T13:27:00.123Z",
            "2026-11-00T13:27:00.123Z", "2026-11-31T13:27:00.123Z", "2026-02-29T13:27:00.123Z",
            "1900-02-29T13:27:00.123Z", "2026-11-21T24:00:00.000Z", "2026-11-21T13:60:00.123Z",
            "2026-11-21T13:27:60.123Z", "+026-11-21T13:27:00.123Z", "2026-1 -21T13:27:00.123Z",
            "2026-11-21T13:27:00.1²3Z", "2026-11-21T13:27:-1.123Z",
        ])
    func refused(_ text: String) {
        #expect(moment(text) == nil)
    }
}
