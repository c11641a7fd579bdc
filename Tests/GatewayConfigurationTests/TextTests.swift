import SigningKit
import Testing

@testable import GatewayConfiguration

@Suite("Timestamps and numbers")
struct TextTests {
    @Test(
        "the reader reads RFC 3339 timestamps",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2027-01-01T00:00:00Z", 1_798_761_600_000),
            ("2027-01-01T02:00:00+02:00", 1_798_761_600_000), ("2026-12-31T14:30:00-09:30", 1_798_761_600_000),
            ("2024-02-29T12:34:56.789Z", 1_709_210_096_789), ("2024-02-29t12:34:56.7z", 1_709_210_096_700),
            ("2024-02-29T12:34:56.7899999Z", 1_709_210_096_789), ("1969-12-31T23:59:59.5Z", -500),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] as [(String, Int64)])
    func moments(_ text: String, _ milliseconds: Int64) throws {
        let timestamp = try Timestamp(configured: text)
        #expect(timestamp.milliseconds == milliseconds)
        #expect(try Timestamp(configured: timestamp.configurationText).seconds == timestamp.seconds)
    }

    @Test(
        "the reader refuses an invalid timestamp",
        arguments: [
            "", "2027", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01 00:00:00Z", "2027-13-01T00:00:00Z",
            "2027-00-01T00:00:00Z", "2027-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2027-04-31T00:00:00Z",
            "2027-01-00T00:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z", "2027-01-01T00:00:60Z",
            "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00+2:00", "2027-01-01T00:00:00+24:00",
            "2027-01-01T00:00:00+0200",
            "2027-01-01T00:00:00ZZ", "+027-01-01T00:00:00Z", "2027-01-01T00:00:00 02:00", "２027-01-01T00:00:00Z",
        ])
    func noMoments(_ text: String) {
        #expect(throws: InvalidValue.self) { try Timestamp(configured: text) }
    }

    @Test("every day within 400 years of 1970 is unchanged after printing and parsing")
    func everyDay() throws {
        for day in stride(from: -146_097, through: 146_097, by: 1) {
            let timestamp = Timestamp(milliseconds: Int64(day) * 86_400_000)
            let text = timestamp.configurationText
            guard try Timestamp(configured: text) != timestamp else { continue }
            Issue.record("\(text) is not day \(day)")
        }
    }

    @Test(
        "number accepts plain decimals only",
        arguments: [
            ("0", 0.0), ("1.5", 1.5), ("-0.5", -0.5), ("10", 10), ("0.001", 0.001), (".5", nil), ("5.", nil),
            ("1e3", nil), ("01", nil), ("1.2.3", nil), ("inf", nil), ("nan", nil), ("--1", nil), ("-", nil), ("", nil),
            ("1_0", nil), ("+1", nil), ("0x1p3", nil),
        ])
    func numbers(_ text: String, _ value: Double?) {
        #expect(SettingNode.number(text) == value)
    }
}
