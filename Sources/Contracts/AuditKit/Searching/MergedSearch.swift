import SigningKit

/// A search in several logs. It visits their entries in the order of their times; the entries of one log stay in the
/// order of their indexes.
public struct MergedSearch {
    private var logs: [SearchedLog]
    private let isLatestFirst: Bool

    public init(_ readers: [any AuditReader], _ query: AuditQuery) {
        logs = readers.map { SearchedLog(reader: $0, query: query) }
        isLatestFirst = query.isLatestFirst
    }

    /// - Parameter visit: returns whether to continue.
    /// - Returns: the coverage of each log, in the order of the readers.
    public mutating func run(
        _ visit: (_ log: any AuditReader, StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> [SearchCoverage] {
        for position in logs.indices { try logs[position].fill() }
        while let position = nextLog(), let entry = logs[position].take() {
            guard try visit(logs[position].reader, entry) else { break }
            try logs[position].fill()
        }
        return logs.map(\.coverage)
    }

    /// The log with the next entry; nil after the last one.
    private func nextLog() -> Int? {
        let waiting = logs.indices.filter { logs[$0].time != nil }
        return isLatestFirst
            ? waiting.max { (logs[$0].time ?? .min) < (logs[$1].time ?? .min) }
            : waiting.min { (logs[$0].time ?? .max) < (logs[$1].time ?? .max) }
    }
}

/// One of the logs, with the entries that were read and not visited yet.
private struct SearchedLog {
    let reader: any AuditReader
    private var query: AuditQuery
    private var page: [StoredEntry] = []
    /// Entries that are read at a time. Pages become longer, because each one reads the list of indexed segments.
    private var pageSize = firstPageSize
    private static let (firstPageSize, largestPageSize) = (128, 4096)
    private var isAtEnd = false
    /// Milliseconds since 1970 of the next entry. An entry without a time keeps that of the one before it. Nil if no
    /// entry is left.
    private(set) var time: Int64?
    private(set) var coverage = SearchCoverage()

    init(reader: any AuditReader, query: AuditQuery) {
        (self.reader, self.query) = (reader, query)
    }

    /// Reads the next page if no entry is left.
    mutating func fill() throws(AuditStoreError) {
        if page.isEmpty, !isAtEnd {
            try passArchived(isFirstPage: pageSize == Self.firstPageSize)
            var found: [StoredEntry] = []
            let read = try reader.search(query) { entry in
                found.append(entry)
                return found.count < pageSize
            }
            coverage.add(read)
            isAtEnd = found.count < pageSize
            pageSize = min(2 * pageSize, Self.largestPageSize)
            if let last = found.last {
                let rest = query.indexes
                query.indexes = query.isLatestFirst ? rest.lowerBound..<last.index : last.index + 1..<rest.upperBound
            }
            page = found.reversed()
        }
        time = page.last.map { EntryFields($0.body)?.time?.milliseconds ?? time ?? (query.isLatestFirst ? .max : 0) }
    }

    /// Begins after the archived entries. Those that were archived since the first page are missing.
    private mutating func passArchived(isFirstPage: Bool) throws(AuditStoreError) {
        let first = min(try reader.firstIndex(), query.indexes.upperBound)
        guard first > query.indexes.lowerBound else { return }
        if !isFirstPage { coverage.missing.add(query.indexes.lowerBound..<first) }
        query.indexes = first..<query.indexes.upperBound
    }

    mutating func take() -> StoredEntry? { page.popLast() }
}

extension SearchCoverage {
    /// Adds what another search of the same log read.
    fileprivate mutating func add(_ other: SearchCoverage) {
        byIndex += other.byIndex
        byReading += other.byReading
        foundByIndex += other.foundByIndex
        found += other.found
        if let more = other.missing { missing.add(more) }
        isStopped = other.isStopped
    }
}
