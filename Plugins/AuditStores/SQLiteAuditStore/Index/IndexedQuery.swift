import AuditKit
import SQLite

/// A query in the index's terms.
struct IndexedQuery {
    let index: IndexReader
    private let query: AuditQuery
    private var terms: [Int] = []
    private var hashed: [(field: AuditTerm, value: String)] = []
    /// A value that no indexed entry has was asked for.
    private var isHopeless = false

    init(_ query: AuditQuery, _ index: IndexReader) throws(SQLiteError) {
        self.index = index
        self.query = query
        for (field, value) in query.terms {
            if field.isHashed {
                hashed.append((field, value))
            } else if let id = try index.id(of: field, value) {
                terms.append(id)
            } else {
                isHopeless = true
            }
        }
    }

    /// Where in an indexed segment the entries may be. Nil when the index says something that means nothing.
    func candidates(in segment: Int) throws(SQLiteError) -> Positions? {
        guard !isHopeless, index.segments[segment]?.mayHold(query) == true else { return Positions() }
        var candidates = Positions.all
        for term in terms where !candidates.isEmpty {
            guard let positions = try index.positions(ofTerm: term, in: segment) else { return nil }
            candidates.formIntersection(positions)
        }
        for (field, value) in hashed where !candidates.isEmpty {
            candidates.formIntersection(try index.positions(of: value, field, in: segment))
        }
        return candidates
    }
}
