import SigningKit

/// What a search reads from a log.
package protocol SearchableLog {
    func head() throws(AuditStoreError) -> SignedTreeHead?
    func firstIndex() throws(AuditStoreError) -> Int
    func storedEnd() throws(AuditStoreError) -> Int

    /// The first entries of a range in ascending order, or its last entries in descending order.
    func batch(of range: Range<Int>, isLatestFirst: Bool, limit: Int) throws(AuditStoreError) -> [StoredEntry]

    /// The existing entries among these indexes, in the same order.
    func entries(at indexes: [Int]) throws(AuditStoreError) -> [StoredEntry]

    /// Nil if the log has no index that can be used.
    func segmentIndex() throws(AuditStoreError) -> (any SegmentIndex)?
}

extension SearchableLog {
    package func search(_ query: AuditQuery, _ visit: EntryVisitor) throws(AuditStoreError) -> SearchCoverage {
        var search = try EntrySearch(query, self)
        for span in search.spans where try !search.visit(span, visit) {
            search.coverage.isStopped = true
            break
        }
        return search.coverage
    }

    package func tallies(
        _ query: AuditQuery
    ) throws(AuditStoreError) -> (tallies: [TallyKey: Int], coverage: SearchCoverage) {
        var search = try EntrySearch(query, self)
        return (try search.tallies(), search.coverage)
    }
}

/// A search index of closed segments. It is not trusted: a search reads each entry that the index names. After an error,
/// the search continues without it.
package protocol SegmentIndex {
    /// The indexed segments whose root is the one in the log.
    var segments: [Int: IndexedSegment] { get }

    /// The positions in a segment of the entries that may match, in ascending order; nil if all may match.
    func candidates(for query: AuditQuery, in segment: Int) throws -> [Int]?

    func tallies(in segment: Int) throws -> [(key: TallyKey, count: Int)]
}

package struct IndexedSegment {
    /// Milliseconds since the start of 1970; `earliest` is after `latest` if no entry has a time.
    private let earliest: Int64
    private let latest: Int64

    package init(earliest: Int64, latest: Int64) {
        (self.earliest, self.latest) = (earliest, latest)
    }

    /// Whether an entry may be in the query's period.
    package func mayHold(_ query: AuditQuery) -> Bool {
        query.since.map { $0.milliseconds <= latest } ?? true
            && query.until.map { $0.milliseconds > earliest } ?? true
    }

    /// Whether all entries with a time are in the query's period.
    func isWithin(_ query: AuditQuery) -> Bool {
        query.since.map { $0.milliseconds <= earliest } ?? true
            && query.until.map { $0.milliseconds > latest } ?? true
    }
}

extension SegmentIndex {
    /// - Parameter positions: of the entries in a segment whose field has a value with this hash, in ascending order. An
    ///   index may name any position.
    package func candidates(
        for query: AuditQuery, in segment: Int, _ positions: (_ field: Int, _ hash: Int) throws -> [Int]
    ) throws -> [Int]? {
        guard segments[segment]?.mayHold(query) == true else { return [] }
        var candidates: [Int]?
        for (field, text) in query.terms {
            let found = try positions(field.number, AuditTerm.hash(text)).filter((0..<AuditSegment.size).contains)
            candidates = candidates.map { $0.filter(Set(found).contains) } ?? found
            if candidates?.isEmpty == true { break }
        }
        return candidates
    }
}
