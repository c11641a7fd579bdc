public import SigningKit

/// The period by which tallies are summed. Each period begins in UTC.
public enum AuditInterval: String, CaseIterable, Hashable, Sendable {
    case hour, day, month

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

    /// The start of the interval as a table shows it: to the minute, day or month.
    public func label(of begin: Timestamp) -> String {
        switch self {
        case .hour: String(decoding: begin.rfc3339.prefix(16), as: UTF8.self) + "Z"
        case .day: String(decoding: begin.rfc3339.prefix(10), as: UTF8.self)
        case .month: String(decoding: begin.rfc3339.prefix(7), as: UTF8.self)
        }
    }

    /// Sums hourly tallies by interval, sorted by time, then by client, key, feature and outcome.
    public func sums(_ tallies: [AuditTally]) -> [AuditTally] {
        var sums = TallySum(by: self)
        sums.add(tallies)
        return sums.sums
    }
}
