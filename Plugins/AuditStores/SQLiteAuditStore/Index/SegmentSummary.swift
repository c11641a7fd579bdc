import AuditKit
import SigningKit

/// The rows of the index for one segment.
struct SegmentSummary {
    struct Value: Hashable, Comparable {
        let field: Int
        let hash: Int
        let position: Int

        static func < (one: Value, other: Value) -> Bool {
            (one.field, one.hash, one.position) < (other.field, other.hash, other.position)
        }
    }

    /// Milliseconds since the start of 1970; `earliest` is after `latest` if no entry has a time.
    private(set) var earliest = Int64.max
    private(set) var latest = Int64.min
    private(set) var values: Set<Value> = []
    private(set) var tallies: [TallyKey: Int] = [:]

    mutating func add(_ entry: StoredEntry) {
        guard let fields = EntryFields(entry.body) else { return }
        for field in AuditTerm.allCases {
            for value in fields.values(of: field) {
                values.insert(
                    Value(
                        field: field.number, hash: AuditTerm.hash(value), position: entry.index % AuditSegment.size))
            }
        }
        guard let time = fields.time else { return }
        earliest = min(earliest, time.milliseconds)
        latest = max(latest, time.milliseconds)
        for (key, count) in TallyKey.counts(of: fields, at: time) { tallies[key, default: 0] &+= count }
    }
}
