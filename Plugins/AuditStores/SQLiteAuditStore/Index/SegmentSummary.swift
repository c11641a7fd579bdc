import AuditKit
import SigningKit

/// What the index keeps of a segment.
struct SegmentSummary {
    /// Milliseconds since the start of 1970; `earliest` is after `latest` where no entry has a time.
    private(set) var earliest = Int64.max
    private(set) var latest = Int64.min
    private(set) var postings: [IndexedTerm: Positions] = [:]
    private(set) var hashed: [AuditTerm: HashedValues] = [:]
    private(set) var tallies: [TallyKey: Int] = [:]

    mutating func add(_ entry: StoredEntry) {
        guard let fields = EntryFields(entry.body) else { return }
        let position = entry.index % AuditSegment.size
        if let time = fields.time {
            earliest = min(earliest, time.milliseconds)
            latest = max(latest, time.milliseconds)
        }
        for field in AuditTerm.allCases {
            for value in fields.values(of: field) { add(value, of: field, at: position) }
        }
        for (key, count) in TallyKey.counts(of: fields) {
            tallies[key] = (tallies[key] ?? 0).addingReportingOverflow(count).partialValue
        }
    }

    private mutating func add(_ value: String, of field: AuditTerm, at position: Int) {
        if field.isHashed {
            hashed[field, default: HashedValues()].insert(value, at: position)
        } else {
            postings[IndexedTerm(field, value), default: Positions()].insert(position)
        }
    }
}
