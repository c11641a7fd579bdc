import AuditKit
import SQLite

/// One search: segment by segment where there is an index, entry by entry where there is none.
struct EntrySearch {
    /// A part of the log.
    enum Span {
        case indexed(segment: Int)
        case scanned(Range<Int>)
    }

    /// Entries that are looked at together: few, because the first hits are often all that is wanted.
    private static let batchSize = 128

    let spans: [Span]
    let query: AuditQuery
    private let reader: SQLiteAuditReader
    /// Nil as soon as the index turns out to be damaged.
    private(set) var indexed: IndexedQuery?
    private(set) var coverage = SearchCoverage()

    init(_ query: AuditQuery, _ reader: SQLiteAuditReader) throws(AuditStoreError) {
        self.query = query
        self.reader = reader
        let tables = try reader.tables()
        let roots = try tables.segmentRoots()
        let path = reader.location.index
        if query.usesIndex, try FileMark(path)?.isRegular == true,
            let index = try? IndexReader(at: path, origin: reader.identity.origin, roots: roots)
        {
            indexed = try? IndexedQuery(query, index)
        }
        let known = indexed?.index.segments.keys.sorted() ?? []
        // What the head covers has to be there.
        let end = min(max(try tables.end(), try tables.head()?.size ?? 0), query.indexes.upperBound)
        let spans = try Self.spans(of: max(tables.firstIndex(), query.indexes.lowerBound), end, indexed: known)
        self.spans = query.isLatestFirst ? spans.reversed() : spans
    }

    private static func spans(of first: Int, _ end: Int, indexed: [Int]) -> [Span] {
        var spans: [Span] = []
        var next = first
        for segment in indexed {
            let begin = segment * AuditSegment.size
            guard begin >= next, begin + AuditSegment.size <= end else { continue }
            if begin > next { spans.append(.scanned(next..<begin)) }
            spans.append(.indexed(segment: segment))
            next = begin + AuditSegment.size
        }
        if next < end { spans.append(.scanned(next..<end)) }
        return spans
    }

    /// - Returns: whether to go on.
    mutating func visit(
        _ span: Span, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> Bool {
        switch span {
        case .scanned(let range): return try scan(range, visit)
        case .indexed(let segment):
            let range = segment * AuditSegment.size..<(segment + 1) * AuditSegment.size
            // A damaged index is no reason to find nothing.
            guard let candidates = (try? indexed?.candidates(in: segment)) ?? nil else {
                indexed = nil
                return try scan(range, visit)
            }
            if candidates == .all { return try scan(range, visit) }
            guard let last = try look(at: candidates, from: range.lowerBound, visit) else {
                answerByIndex(range.count)
                return true
            }
            answerByIndex(query.isLatestFirst ? range.upperBound - last : last + 1 - range.lowerBound)
            return false
        }
    }

    /// Notes that the index said of so many entries whether they are to be read.
    mutating func answerByIndex(_ count: Int) { coverage.byIndex += count }

    /// Notes that the caller wants no more.
    mutating func stop() { coverage.isStopped = true }

    /// - Returns: the index of the entry after which the caller wanted no more; nil when all were looked at.
    private mutating func look(
        at candidates: Positions, from begin: Int, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> Int? {
        let positions = query.isLatestFirst ? candidates.ascending.reversed() : candidates.ascending
        var rest = positions[...]
        while !rest.isEmpty {
            let indexes = rest.prefix(Self.batchSize).map { begin + $0 }
            rest = rest.dropFirst(Self.batchSize)
            var entries = try reader.tables().entries(at: indexes)[...]
            for index in indexes {
                guard let entry = entries.first, entry.index == index else {
                    coverage.missing.add(index..<index + 1)
                    continue
                }
                entries.removeFirst()
                guard try show(entry, visit, isNamed: true) else { return index }
            }
        }
        return nil
    }

    private mutating func scan(
        _ range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> Bool {
        var range = range
        while !range.isEmpty {
            let entries = try reader.tables().batch(
                of: range, isLatestFirst: query.isLatestFirst, limit: Self.batchSize)
            for entry in entries {
                // In a damaged database they may be in any order.
                if range.contains(entry.index) {
                    let (before, after) = (range.lowerBound..<entry.index, entry.index + 1..<range.upperBound)
                    coverage.missing.add(query.isLatestFirst ? after : before)
                    range = query.isLatestFirst ? before : after
                }
                coverage.byReading += 1
                guard try show(entry, visit, isNamed: false) else { return false }
            }
            if entries.count < Self.batchSize { break }
        }
        coverage.missing.add(range)
        return true
    }

    /// - Parameter isNamed: whether the index named the entry.
    /// - Returns: whether to go on.
    private mutating func show(
        _ entry: StoredEntry, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool, isNamed: Bool
    ) throws(AuditStoreError) -> Bool {
        // Looked at again whatever the index said: it is not trusted.
        // Who asks for everything gets also what is no entry: it must not be passed over.
        guard EntryFields(entry.body)?.match(query) ?? query.isForEverything else { return true }
        coverage.found += 1
        if isNamed { coverage.foundByIndex += 1 }
        return try visit(entry)
    }
}
