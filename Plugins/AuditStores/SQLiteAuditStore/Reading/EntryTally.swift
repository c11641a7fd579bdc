import AuditKit
import SQLite
import SigningKit

/// Adds up the counts in the index, and counts the other entries.
struct EntryTally {
    private var search: EntrySearch
    private var counts: [TallyKey: Int] = [:]

    var coverage: SearchCoverage { search.coverage }

    init(_ query: AuditQuery, _ reader: SQLiteAuditReader) throws(AuditStoreError) {
        search = try EntrySearch(query, reader)
    }

    /// Sorted by hour; unordered within an hour.
    mutating func run() throws(AuditStoreError) -> [AuditTally] {
        for span in search.spans where !addKept(span) {
            var found: [TallyKey: Int] = [:]
            _ = try search.visit(span) { entry in
                guard let fields = EntryFields(entry.body) else { return true }
                for (key, count) in TallyKey.counts(of: fields) { found[key, default: 0] &+= count }
                return true
            }
            for (key, count) in found { add(key, count) }
        }
        return counts.sorted { $0.key.hour < $1.key.hour }.map { $0.key.tally($0.value) }
    }

    /// - Returns: false if the index has no counts for this span and this query.
    private mutating func addKept(_ span: EntrySearch.Span) -> Bool {
        guard case .indexed(let segment) = span, let index = search.index,
            index.segments[segment]?.isWithin(search.query) == true,
            TallyKey.fields.isSuperset(of: search.query.terms.keys), let kept = try? index.tallies(in: segment)
        else { return false }
        for (key, count) in kept { add(key, count) }
        search.answerByIndex(AuditSegment.size)
        return true
    }

    /// One entry may count several refusals with different outcomes, and the query may ask for one outcome.
    private mutating func add(_ key: TallyKey, _ count: Int) {
        let terms = search.query.terms.filter { TallyKey.fields.contains($0.key) }
        guard key.has(terms) else { return }
        // A modified index may hold any number.
        let (sum, overflow) = counts[key, default: 0].addingReportingOverflow(max(count, 0))
        counts[key] = overflow ? .max : sum
    }
}
