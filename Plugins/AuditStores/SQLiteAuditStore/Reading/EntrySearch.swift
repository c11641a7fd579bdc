import AuditKit
import SQLite

/// One search. It uses the index for indexed segments, and reads all entries of other parts.
struct EntrySearch {
    enum Span {
        case indexed(segment: Int)
        case scanned(Range<Int>)
    }

    /// Entries per batch: few, because callers often want only the first hits.
    private static let batchSize = 128

    let spans: [Span]
    let query: AuditQuery
    private let reader: SQLiteAuditReader
    /// Nil without an index, and after the index turns out to be damaged.
    private(set) var index: IndexReader?
    private(set) var coverage = SearchCoverage()

    init(_ query: AuditQuery, _ reader: SQLiteAuditReader) throws(AuditStoreError) {
        self.query = query
        self.reader = reader
        let tables = try reader.tables()
        let roots = try tables.segmentRoots()
        let path = reader.location.index
        if query.usesIndex, try FileIdentity(path)?.isRegular == true,
            let found = try? IndexReader(at: path, origin: reader.identity.origin, roots: roots)
        {
            index = found
        }
        let known = index?.segments.keys.sorted() ?? []
        // Includes all entries that the head covers, so that missing ones are reported.
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

    /// - Returns: whether to continue.
    mutating func visit(
        _ span: Span, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> Bool {
        switch span {
        case .scanned(let range): return try scan(range, visit)
        case .indexed(let segment):
            let range = segment * AuditSegment.size..<(segment + 1) * AuditSegment.size
            // If the index is damaged, read the entries instead.
            let candidates: IndexReader.Candidates?
            do throws(SQLiteError) { candidates = try index?.candidates(for: query, in: segment) } catch {
                index = nil
                candidates = nil
            }
            guard case .positions(let positions)? = candidates else { return try scan(range, visit) }
            guard let last = try look(at: positions, from: range.lowerBound, visit) else {
                answerByIndex(range.count)
                return true
            }
            answerByIndex(query.isLatestFirst ? range.upperBound - last : last + 1 - range.lowerBound)
            return false
        }
    }

    /// Records that the index decided for `count` entries whether they must be read.
    mutating func answerByIndex(_ count: Int) { coverage.byIndex += count }

    mutating func stop() { coverage.isStopped = true }

    /// - Returns: the index of the entry at which the caller stopped; nil if all were visited.
    private mutating func look(
        at ascending: [Int], from begin: Int, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> Int? {
        let positions = query.isLatestFirst ? ascending.reversed() : ascending
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
                // In a damaged database the entries may be in any order.
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

    private mutating func show(
        _ entry: StoredEntry, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool, isNamed: Bool
    ) throws(AuditStoreError) -> Bool {
        // Check the entry even if the index named it: the index is not trusted. A query for everything also returns
        // invalid entries, because they must not be skipped.
        guard EntryFields(entry.body)?.match(query) ?? query.isForEverything else { return true }
        coverage.found += 1
        if isNamed { coverage.foundByIndex += 1 }
        return try visit(entry)
    }
}
