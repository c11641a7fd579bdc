import AuditKit
import SigningKit
import Testing

@Suite("Audit queries as text")
struct AuditQueryTextTests {
    /// 2026-11-21T13:27:00.123Z.
    private static let now = Timestamp(milliseconds: 1_795_267_620_123)

    /// The parameter that the query refuses, and the reason.
    private static func refusal(_ query: AuditQueryText) -> AuditQueryError? {
        do throws(AuditQueryError) {
            _ = try query.query(at: now)
            return nil
        } catch {
            return error
        }
    }

    private static func text(_ moment: Timestamp?) -> String? {
        moment.map { String(decoding: $0.rfc3339, as: UTF8.self) }
    }

    @Test(
        "a time is an RFC 3339 time with any offset, a date, or an age",
        arguments: [
            ("2026-11-21T13:27:00Z", "2026-11-21T13:27:00.000Z"),
            ("2026-11-21t13:27:00.5z", "2026-11-21T13:27:00.500Z"),
            ("2026-11-21T13:27:00.123999999Z", "2026-11-21T13:27:00.123Z"),
            ("2026-11-21T13:27:00+01:30", "2026-11-21T11:57:00.000Z"),
            ("2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"),
            ("2024-02-29", "2024-02-29T00:00:00.000Z"),
            ("90s", "2026-11-21T13:25:30.123Z"),
            ("15m", "2026-11-21T13:12:00.123Z"),
            ("24h", "2026-11-20T13:27:00.123Z"),
            ("7d", "2026-11-14T13:27:00.123Z"),
            ("2w", "2026-11-07T13:27:00.123Z"),
        ])
    func moments(_ text: String, _ moment: String) {
        #expect(Self.text(AuditTime.parse(text, at: Self.now)) == moment)
    }

    @Test(
        "the query refuses an invalid time",
        arguments: [
            "", "yesterday", "2026-02-29", "2026-11-21T24:00:00Z", "2026-11-21T13:27:00", "2026-11-21 13:27:00Z",
            "2026-11-21T13:27Z", "2026-11-21T13:27:00.Z", "2026-11-21T13:27:60Z",
            "2026-11-21T13:27:00+24:00", "2026-11-21T13:27:00+0100", "2026-11-21T13:27:00ZZ", "24", "h", "-1h", "1.5h",
            "9999999999w", "999999999w", "1969-12-31", "٣h", "2026-11-2１",
        ])
    func noMoments(_ text: String) throws {
        var query = AuditQueryText()
        query.since = text
        #expect(Self.refusal(query)?.description.hasPrefix("\"\(text)\" is not a time for since: ") == true)
        query = AuditQueryText()
        query.until = text
        #expect(Self.refusal(query)?.description.hasPrefix("\"\(text)\" is not a time for until: ") == true)
        #expect(Self.refusal(query)?.parameter == "until")
    }

    @Test("a day begins and ends at midnight UTC")
    func days() throws {
        var text = AuditQueryText()
        text.day = "2026-12-31"
        let query = try text.query(at: Self.now)
        #expect(Self.text(query.since) == "2026-12-31T00:00:00.000Z")
        #expect(Self.text(query.until) == "2027-01-01T00:00:00.000Z")
    }

    @Test(
        "the query refuses an invalid day", arguments: ["", "2026-11-31", "24h", "2026-11-21T00:00:00Z", "21.11.2026"])
    func noDays(_ day: String) {
        var text = AuditQueryText()
        text.day = day
        #expect(Self.refusal(text)?.description.contains(" is not a day: ") == true)
        #expect(Self.refusal(text)?.parameter == "day")
    }

    @Test("the query refuses a day together with since or until")
    func dayAndPeriod() {
        var text = AuditQueryText()
        text.day = "2026-11-21"
        text.since = "24h"
        #expect(Self.refusal(text)?.description.hasPrefix("A day is already a period: ") == true)
        (text.since, text.until) = (nil, "24h")
        #expect(Self.refusal(text)?.description.hasPrefix("A day is already a period: ") == true)
    }

    @Test("the query refuses an empty period")
    func emptyPeriod() {
        var text = AuditQueryText()
        text.since = "2026-11-21"
        text.until = "2026-11-21"
        #expect(Self.refusal(text)?.parameter == "until")
    }

    @Test("the query refuses an empty search term and names the parameter")
    func emptyValue() {
        var text = AuditQueryText()
        text.terms = [.client: "shop", .requestID: ""]
        #expect(Self.refusal(text)?.parameter == "requestId")
    }

    @Test("the query keeps terms and order unchanged")
    func terms() throws {
        var text = AuditQueryText()
        text.terms = [.product: "com.example.monthly", .outcome: "signed"]
        text.isLatestFirst = false
        let query = try text.query(at: Self.now)
        #expect(query.terms == text.terms)
        #expect(!query.isLatestFirst)
        #expect(query.since == nil && query.until == nil)
    }

    @Test("an error message escapes terminal control characters")
    func plainErrors() {
        var text = AuditQueryText()
        text.day = "\u{1B}[2J"
        #expect(Self.refusal(text)?.description.contains("\u{1B}") == false)
    }
}
