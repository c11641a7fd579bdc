public import SigningKit

/// By what counts are put together; each begins in UTC.
public enum AuditInterval: String, CaseIterable, Hashable, Sendable {
    case hour, day, month

    /// The first moment of the interval that `moment` is in.
    public func begin(of moment: Timestamp) -> Timestamp {
        let text = moment.rfc3339
        let begin =
            switch self {
            case .hour: text.prefix(13) + ":00:00.000Z".utf8
            case .day: text.prefix(10) + "T00:00:00.000Z".utf8
            case .month: text.prefix(7) + "-01T00:00:00.000Z".utf8
            }
        return Timestamp(rfc3339: begin) ?? moment
    }

    /// As a table shows it: no more of the time than tells one interval from the next.
    public func label(of begin: Timestamp) -> String {
        switch self {
        case .hour: String(decoding: begin.rfc3339.prefix(16), as: UTF8.self) + "Z"
        case .day: String(decoding: begin.rfc3339.prefix(10), as: UTF8.self)
        case .month: String(decoding: begin.rfc3339.prefix(7), as: UTF8.self)
        }
    }

    /// What an index says may be damaged: it ends at the largest number instead of going round.
    private static func sum(_ first: Int, _ second: Int) -> Int {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }

    /// Tallies by hour, put together; in order of time, then of client, key, feature and outcome.
    public func sums(_ tallies: [AuditTally]) -> [AuditTally] {
        var counts: [AuditTally: Int] = [:]
        for tally in tallies {
            let key = AuditTally(
                begin: begin(of: tally.begin), client: tally.client, feature: tally.feature, key: tally.key,
                outcome: tally.outcome, count: 0)
            counts[key] = Self.sum(counts[key] ?? 0, tally.count)
        }
        return counts.map { $0.key.counting($0.value) }.sorted { $0.order.lexicographicallyPrecedes($1.order) }
    }
}

extension AuditTally {
    fileprivate func counting(_ count: Int) -> AuditTally {
        AuditTally(begin: begin, client: client, feature: feature, key: key, outcome: outcome, count: count)
    }

    /// Moments as texts sort as moments do.
    fileprivate var order: [String] { [begin.text, client ?? "", key ?? "", feature ?? "", outcome] }
}
