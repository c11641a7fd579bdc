/// One search. It uses the index for indexed segments, and reads all entries of other parts.
package struct EntrySearch {
    package enum Span {
        case indexed(segment: Int)
        case scanned(Range<Int>)
    }

    /// Entries per batch: few, because callers often want only the first hits.
    private static let batchSize = 128

    package let spans: [Span]
    private let query: AuditQuery
    private let log: any SearchableLog
    /// Nil without an index, and after the index turns out to be damaged.
    private var index: (any SegmentIndex)?
    package var coverage = SearchCoverage()

    package init(_ query: AuditQuery, _ log: any SearchableLog) throws(AuditStoreError) {
        self.query = query
        self.log = log
        index = query.usesIndex ? try log.segmentIndex() : nil
        let known = index?.segments.keys.sorted() ?? []
        // Includes all entries that the head covers, so that missing ones are reported.
        let end = min(max(try log.storedEnd(), try log.head()?.size ?? 0), query.indexes.upperBound)
        let spans = try Self.spans(of: max(log.firstIndex(), query.indexes.lowerBound), end, indexed: known)
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
    package mutating func visit(_ span: Span, _ visit: EntryVisitor) throws(AuditStoreError) -> Bool {
        switch span {
        case .scanned(let range): return try scan(range, visit)
        case .indexed(let segment):
            let range = AuditSegment.entries(of: segment)
            var positions: [Int]?
            // If the index is damaged, read the entries instead.
            do { positions = try index?.candidates(for: query, in: segment) } catch { index = nil }
            guard let positions else { return try scan(range, visit) }
            guard let last = try look(at: positions, from: range.lowerBound, visit) else {
                coverage.byIndex += range.count
                return true
            }
            coverage.byIndex += query.isLatestFirst ? range.upperBound - last : last + 1 - range.lowerBound
            return false
        }
    }

    /// - Returns: the index of the entry at which the caller stopped; nil if all were visited.
    private mutating func look(
        at ascending: [Int], from begin: Int, _ visit: EntryVisitor
    ) throws(AuditStoreError) -> Int? {
        let positions = query.isLatestFirst ? ascending.reversed() : ascending
        var rest = positions[...]
        while !rest.isEmpty {
            let indexes = rest.prefix(Self.batchSize).map { begin + $0 }
            rest = rest.dropFirst(Self.batchSize)
            var entries = try log.entries(at: indexes)[...]
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

    private mutating func scan(_ range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) -> Bool {
        var range = range
        while !range.isEmpty {
            let entries = try log.batch(
                of: range, isLatestFirst: query.isLatestFirst, limit: Self.batchSize)
            for entry in entries {
                let (before, after) = (range.lowerBound..<entry.index, entry.index + 1..<range.upperBound)
                coverage.missing.add(query.isLatestFirst ? after : before)
                range = query.isLatestFirst ? before : after
                coverage.byReading += 1
                guard try show(entry, visit, isNamed: false) else { return false }
            }
            if entries.count < Self.batchSize { break }
        }
        coverage.missing.add(range)
        return true
    }

    private mutating func show(
        _ entry: StoredEntry, _ visit: EntryVisitor, isNamed: Bool
    ) throws(AuditStoreError) -> Bool {
        // Check the entry even if the index named it: the index is not trusted. A query for everything also returns
        // invalid entries, because they must not be skipped.
        guard EntryFields(entry.body)?.match(query) ?? query.isForEverything else { return true }
        coverage.found += 1
        if isNamed { coverage.foundByIndex += 1 }
        return try visit(entry)
    }
}

extension EntrySearch {
    /// Adds up the counts in the index, and counts the other entries.
    package mutating func tallies() throws(AuditStoreError) -> [TallyKey: Int] {
        // One entry may count several refusals with different outcomes, and the query may ask for one outcome.
        let terms = query.terms.filter { TallyKey.fields.contains($0.key) }
        var counts: [TallyKey: Int] = [:]
        func add(_ more: [(key: TallyKey, count: Int)]) {
            for (key, count) in more where key.has(terms) { counts.add(count, to: key) }
        }
        for span in spans {
            // The index has the counts of a whole segment.
            if case .indexed(let segment) = span, let index, index.segments[segment]?.isWithin(query) == true,
                terms.count == query.terms.count, let kept = try? index.tallies(in: segment)
            {
                add(kept)
                coverage.byIndex += AuditSegment.size
                continue
            }
            _ = try visit(span) { entry in
                if let fields = EntryFields(entry.body) { add(TallyKey.counts(of: fields)) }
                return true
            }
        }
        return counts
    }
}
