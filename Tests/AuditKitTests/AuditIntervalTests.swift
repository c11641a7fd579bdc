import SigningKit
import Testing

@testable import AuditKit

@Suite("Audit intervals and counts")
struct AuditIntervalTests {
    private static func moment(_ text: String) throws -> Timestamp {
        try #require(Timestamp(rfc3339: Array(text.utf8)))
    }

    private static func tally(_ begin: String, _ client: String?, _ outcome: String, _ count: Int) throws -> AuditTally
    {
        AuditTally(
            begin: try moment(begin), client: client, feature: "promotional-offer", key: "K", outcome: outcome,
            count: count)
    }

    /// The hourly counts of these tallies.
    private static func counts(_ tallies: [AuditTally]) -> [TallyKey: Int] {
        tallies.reduce(into: [:]) { counts, tally in
            let key = TallyKey(
                begin: tally.begin, client: tally.client.map { ExactText($0) },
                feature: tally.feature.map { ExactText($0) }, key: tally.key.map { ExactText($0) },
                outcome: ExactText(tally.outcome))
            counts.add(tally.count, to: key)
        }
    }

    @Test(
        "an interval begins at a UTC boundary",
        arguments: [
            (AuditInterval.hour, "2028-02-29T23:00:00.000Z", "2028-02-29T23:00Z"),
            (.day, "2028-02-29T00:00:00.000Z", "2028-02-29"), (.month, "2028-02-01T00:00:00.000Z", "2028-02"),
        ])
    func begins(_ interval: AuditInterval, _ begin: String, _ label: String) throws {
        let found = interval.begin(of: try Self.moment("2028-02-29T23:59:59.999Z"))
        #expect(found == (try Self.moment(begin)))
        #expect(interval.label(of: found) == label)
    }

    @Test("sums adds up the hourly counts of one interval")
    func sums() throws {
        let hours = [
            try Self.tally("2026-11-21T13:00:00.000Z", "shop", "signed", 5),
            try Self.tally("2026-11-20T23:00:00.000Z", "shop", "signed", 1),
            try Self.tally("2026-11-21T00:00:00.000Z", "shop", "signed", 2),
            try Self.tally("2026-11-21T13:00:00.000Z", "shop", "forbidden", 3),
            try Self.tally("2026-11-21T13:00:00.000Z", nil, "unauthenticated", 4),
        ]
        let expected = [
            try Self.tally("2026-11-20T00:00:00.000Z", "shop", "signed", 1),
            try Self.tally("2026-11-21T00:00:00.000Z", nil, "unauthenticated", 4),
            try Self.tally("2026-11-21T00:00:00.000Z", "shop", "forbidden", 3),
            try Self.tally("2026-11-21T00:00:00.000Z", "shop", "signed", 7),
        ]
        #expect(AuditInterval.day.sums(Self.counts(hours)) == expected)
        #expect(AuditInterval.month.sums(Self.counts(hours)).map(\.count) == [4, 3, 8])
        #expect(AuditInterval.hour.sums(Self.counts(hours)).map(\.count) == [1, 2, 4, 3, 5])
    }

    @Test("sums keeps names apart that look the same and have different bytes")
    func names() throws {
        let composed = try Self.tally("2026-11-21T13:00:00.000Z", "caf\u{e9}", "signed", 5)
        let decomposed = try Self.tally("2026-11-21T13:00:00.000Z", "cafe\u{301}", "signed", 2)
        #expect(AuditInterval.day.sums(Self.counts([composed, decomposed, composed])).map(\.count) == [2, 10])
    }
}
