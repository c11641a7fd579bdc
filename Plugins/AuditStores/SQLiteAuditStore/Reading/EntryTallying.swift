import AuditKit
import SQLite
import SigningKit

/// Adds up what the index has counted, and counts the rest.
struct EntryTallying {
    private var search: EntrySearch
    private var counts: [TallyKey: Int] = [:]

    var coverage: SearchCoverage { search.coverage }

    init(_ query: AuditQuery, _ reader: SQLiteAuditReader) throws(AuditStoreError) {
        search = try EntrySearch(query, reader)
    }

    /// By hour; within an hour in no order.
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

    /// - Returns: false when the index has not counted what was asked for.
    private mutating func addKept(_ span: EntrySearch.Span) -> Bool {
        guard case .indexed(let segment) = span, let index = search.indexed?.index,
            index.segments[segment]?.isWithin(search.query) == true,
            TallyKey.fields.isSuperset(of: search.query.terms.keys), let kept = try? index.tallies(in: segment)
        else { return false }
        for (key, count) in kept { add(key, count) }
        search.answerByIndex(AuditSegment.size)
        return true
    }

    /// Refusals that were counted together are one entry with several outcomes, of which one may have been asked for.
    private mutating func add(_ key: TallyKey, _ count: Int) {
        let terms = search.query.terms.filter { TallyKey.fields.contains($0.key) }
        guard key.has(terms) else { return }
        // An index that somebody changed may say anything.
        let (sum, overflow) = counts[key, default: 0].addingReportingOverflow(max(count, 0))
        counts[key] = overflow ? .max : sum
    }
}
