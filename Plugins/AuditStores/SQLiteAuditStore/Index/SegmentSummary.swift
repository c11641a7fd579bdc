import AuditKit
import SigningKit

/// What the index keeps of a segment.
struct SegmentSummary {
    /// Where entries that look alike are counted. Most entries of a segment look like some before: what they say is read once.
    private struct Shape {
        /// In `postings`.
        let terms: [Int]
        let hour: Int?
        /// In `tallies`.
        let tallies: [(place: Int, count: Int)]
    }

    /// Milliseconds since the start of 1970; `earliest` is after `latest` where no entry has a time.
    private(set) var earliest = Int64.max
    private(set) var latest = Int64.min
    private(set) var postings: [(term: IndexedTerm, positions: Positions)] = []
    private(set) var hashed: [AuditTerm: HashedValues] = [:]
    private(set) var tallies: [(key: TallyKey, count: Int)] = []

    private var termPlaces: [IndexedTerm: Int] = [:]
    private var tallyPlaces: [TallyKey: Int] = [:]
    private var shapes: [[UInt8]: Shape] = [:]

    mutating func add(_ entry: StoredEntry) {
        guard let fields = EntryFields(entry.body) else { return }
        let position = entry.index % AuditSegment.size
        let time = fields.time
        if let time {
            earliest = min(earliest, time.milliseconds)
            latest = max(latest, time.milliseconds)
        }
        let shape = shape(of: fields, at: time)
        for place in shape.terms { postings[place].positions.insert(position) }
        for (place, count) in shape.tallies {
            tallies[place].count = tallies[place].count.addingReportingOverflow(count).partialValue
        }
        for field in AuditTerm.hashed {
            for value in fields.values(of: field) {
                hashed[field, default: HashedValues()].insert(value, at: position)
            }
        }
    }

    private mutating func shape(of fields: EntryFields, at time: Timestamp?) -> Shape {
        let hour = time.map(TallyKey.hour)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.body.count)
        fields.appendCommon(to: &bytes)
        if let known = shapes[bytes], known.hour == hour { return known }
        let values = AuditTerm.kept.flatMap { field in fields.values(of: field).map { IndexedTerm(field, $0) } }
        let counts = time.map { TallyKey.counts(of: fields, at: $0) } ?? []
        let shape = Shape(
            terms: values.map { place(of: $0) }, hour: hour, tallies: counts.map { (place(of: $0.key), $0.count) })
        shapes[bytes] = shape
        return shape
    }

    private mutating func place(of term: IndexedTerm) -> Int {
        if let place = termPlaces[term] { return place }
        postings.append((term, Positions()))
        termPlaces[term] = postings.count - 1
        return postings.count - 1
    }

    private mutating func place(of key: TallyKey) -> Int {
        if let place = tallyPlaces[key] { return place }
        tallies.append((key, 0))
        tallyPlaces[key] = tallies.count - 1
        return tallies.count - 1
    }
}
