import SigningKit

/// Puts tallies together by interval. A year by the hour has hundreds of thousands: names are told apart by number, and those by their
/// bytes, so that no two are taken for one because they look the same.
struct TallySums {
    private struct Key: Hashable {
        let begin: Int64
        let client: Int
        let key: Int
        let feature: Int
        let outcome: Int
    }

    private let interval: AuditInterval
    private var counts: [Key: Int] = [:]
    /// Names by number; 0 is none.
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
            // What an index says may be damaged: it ends at the largest number instead of going round.
            let (sum, overflow) = counts[key, default: 0].addingReportingOverflow(tally.count)
            counts[key] = overflow ? .max : sum
        }
    }

    /// In order of time, then of client, key, feature and outcome, by their bytes.
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

    /// Where each name stands among all.
    private var ranks: [Int] {
        var ranks = [Int](repeating: 0, count: names.count)
        let sorted = numbers.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (rank, (_, number)) in sorted.enumerated() { ranks[number] = rank + 1 }
        return ranks
    }
}
