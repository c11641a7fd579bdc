import SigningKit

/// Sums tallies by interval. A year of hourly tallies has hundreds of thousands, so keys hold numbers in place of
/// names. Names are compared by bytes, so that `String` equality does not merge two of them.
struct TallySum {
    private struct Key: Hashable {
        let begin: Int64
        let client: Int
        let key: Int
        let feature: Int
        let outcome: Int
    }

    private let interval: AuditInterval
    private var counts: [Key: Int] = [:]
    /// Names by number; 0 means no name.
    private var names: [String?] = [nil]
    private var numbers: [[UInt8]: Int] = [:]

    init(by interval: AuditInterval) {
        self.interval = interval
    }

    mutating func add(_ tallies: [AuditTally]) {
        var last: (hour: Timestamp, begin: Int64)?
        for tally in tallies {
            if last?.hour != tally.begin { last = (tally.begin, interval.begin(of: tally.begin).milliseconds) }
            let key = Key(
                begin: last?.begin ?? 0, client: number(of: tally.client), key: number(of: tally.key),
                feature: number(of: tally.feature), outcome: number(of: tally.outcome))
            // Saturate: a count from a damaged index may overflow.
            let (sum, overflow) = counts[key, default: 0].addingReportingOverflow(tally.count)
            counts[key] = overflow ? .max : sum
        }
    }

    /// Sorted by time, then by the bytes of client, key, feature and outcome.
    var sums: [AuditTally] {
        let ranks = ranks
        func order(_ key: Key) -> (Int64, Int, Int, Int, Int) {
            (key.begin, ranks[key.client], ranks[key.key], ranks[key.feature], ranks[key.outcome])
        }
        return counts.sorted { order($0.key) < order($1.key) }.map { key, count in
            AuditTally(
                begin: Timestamp(milliseconds: key.begin), client: names[key.client], feature: names[key.feature],
                key: names[key.key], outcome: names[key.outcome] ?? "", count: count)
        }
    }

    private mutating func number(of name: String?) -> Int {
        guard let name else { return 0 }
        let bytes = Array(name.utf8)
        if let number = numbers[bytes] { return number }
        numbers[bytes] = names.count
        names.append(name)
        return names.count - 1
    }

    /// The sort rank of each name, by its number.
    private var ranks: [Int] {
        var ranks = [Int](repeating: 0, count: names.count)
        let sorted = numbers.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (rank, (_, number)) in sorted.enumerated() { ranks[number] = rank + 1 }
        return ranks
    }
}
