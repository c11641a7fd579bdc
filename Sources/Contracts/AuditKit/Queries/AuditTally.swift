public import SigningKit

/// The number of signatures, or of refusals with one reason, by client, feature and key in an interval.
public struct AuditTally: Hashable, Sendable {
    /// The start of the hour, day or month.
    public let begin: Timestamp
    public let client: String?
    public let feature: String?
    public let key: String?
    /// `signed`, or the reason of the refusal.
    public let outcome: String
    public let count: Int
}

/// The values by which signatures and refusals are counted. Names are compared by their bytes.
public struct TallyKey: Hashable, Sendable {
    /// The start of the hour, or of another interval.
    public internal(set) var begin: Timestamp
    public let client: ExactText?
    public let feature: ExactText?
    public let key: ExactText?
    public let outcome: ExactText

    /// In milliseconds.
    public static let hour: Int64 = 3_600_000

    public init(begin: Timestamp, client: ExactText?, feature: ExactText?, key: ExactText?, outcome: ExactText) {
        self.begin = begin
        self.client = client
        self.feature = feature
        self.key = key
        self.outcome = outcome
    }

    /// From a row of a search index. The file or table of an index has no signature, so a row may have any values.
    ///
    /// - Parameter hour: since 1970.
    /// - Returns: nil for an hour outside the years 0 to 9999: the time of an entry is in these.
    public init?(hour: Int, client: String?, feature: String?, key: String?, outcome: String?) {
        guard (-17_268_672...70_389_527).contains(hour) else { return nil }
        func exact(_ text: String?) -> ExactText? { text.map { ExactText($0) } }
        self.init(
            begin: Timestamp(milliseconds: Int64(hour) * Self.hour), client: exact(client), feature: exact(feature),
            key: exact(key), outcome: ExactText(outcome ?? ""))
    }

    /// The counts in an entry: one for a signature or a refusal, several for an entry that counts refusals.
    public static func counts(of fields: EntryFields) -> [(key: TallyKey, count: Int)] {
        guard let time = fields.time else { return [] }
        let begin = Timestamp(milliseconds: time.milliseconds / hour * hour)
        let outcomes: [(String, Int)] =
            switch fields.kind {
            case "signature", "refusal": fields.values(of: .outcome).map { ($0, 1) }
            case "refusals": fields.numbers("counts").map { ($0.name, $0.number) }
            default: []
            }
        func value(_ field: AuditTerm) -> ExactText? { fields.values(of: field).first.map { ExactText($0) } }
        return outcomes.map { outcome, count in
            let key = TallyKey(
                begin: begin, client: value(.client), feature: value(.feature), key: value(.key),
                outcome: ExactText(outcome))
            return (key, max(0, count))
        }
    }

    /// The fields of a key. The counts cannot answer a query for another field.
    public static let fields: Set<AuditTerm> = [.client, .feature, .key, .outcome]

    /// - Parameter terms: other fields than those of `fields` are ignored.
    public func has(_ terms: [AuditTerm: String]) -> Bool {
        terms.allSatisfy { field, text in
            switch field {
            case .client: client == ExactText(text)
            case .feature: feature == ExactText(text)
            case .key: key == ExactText(text)
            case .outcome: outcome == ExactText(text)
            default: true
            }
        }
    }
}

extension [TallyKey: Int] {
    /// Adds a count. The sum saturates, because a modified index may hold any number.
    public mutating func add(_ count: Int, to key: TallyKey) {
        let (sum, overflow) = self[key, default: 0].addingReportingOverflow(Swift.max(count, 0))
        self[key] = overflow ? .max : sum
    }
}

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

    /// Sums hourly counts by interval, sorted by time, then by the bytes of client, key, feature and outcome.
    public func sums(_ hours: [TallyKey: Int]) -> [AuditTally] {
        var (counts, begins) = ([TallyKey: Int](), [Timestamp: Timestamp]())
        for (key, count) in hours {
            let begin = begins[key.begin] ?? begin(of: key.begin)
            begins[key.begin] = begin
            var key = key
            key.begin = begin
            counts.add(count, to: key)
        }
        return counts.map { key, count in
            AuditTally(
                begin: key.begin, client: key.client?.text, feature: key.feature?.text, key: key.key?.text,
                outcome: key.outcome.text, count: count)
        }.sorted { one, other in
            func names(_ tally: AuditTally) -> [String] {
                [tally.client ?? "", tally.key ?? "", tally.feature ?? "", tally.outcome]
            }
            guard one.begin == other.begin else { return one.begin < other.begin }
            return names(one).lexicographicallyPrecedes(names(other)) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }
}
