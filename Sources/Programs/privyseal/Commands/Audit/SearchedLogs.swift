import AuditKit

/// One log, or all logs of a database, to answer a query.
struct SearchedLogs {
    let readers: [any AuditReader]
    private let areAll: Bool

    /// Warns if the query includes entries that are no longer in the database.
    init(_ log: AuditLogOption, _ all: AllLogsOption, for query: AuditQuery) throws {
        areAll = all.allLogs
        readers = areAll ? try log.openAll().map(\.reader) : [try log.open().reader]
        for reader in readers {
            guard let first = try reader.archived(before: query) else { continue }
            reader.warnOfArchived(before: first, log: areAll ? reader.identity.origin : nil)
        }
    }

    /// - Parameter visit: gets the name of the log, if there may be several; returns whether to continue.
    func search(
        _ query: AuditQuery, _ visit: (_ log: String?, StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> SearchResult {
        guard areAll else {
            let coverages = try readers.map { reader throws(AuditStoreError) in
                try reader.search(query) { entry throws(AuditStoreError) in try visit(nil, entry) }
            }
            return SearchResult(readers: readers, coverages: coverages)
        }
        var search = MergedSearch(readers, query)
        let coverages = try search.run { reader, entry throws(AuditStoreError) in
            try visit(reader.identity.origin, entry)
        }
        return SearchResult(readers: readers, coverages: coverages)
    }

    /// The counts of all logs together.
    func tallies(_ query: AuditQuery) throws(AuditStoreError) -> (tallies: [TallyKey: Int], result: SearchResult) {
        var (sums, coverages) = ([TallyKey: Int](), [SearchCoverage]())
        for reader in readers {
            let counted = try reader.tallies(query)
            for (key, count) in counted.tallies { sums.add(count, to: key) }
            coverages.append(counted.coverage)
        }
        return (sums, SearchResult(readers: readers, coverages: coverages))
    }
}

/// What was read in each log.
struct SearchResult {
    let readers: [any AuditReader]
    let coverages: [SearchCoverage]

    var byIndex: Int { coverages.reduce(0) { $0 + $1.byIndex } }
    var foundByIndex: Int { coverages.reduce(0) { $0 + $1.foundByIndex } }

    /// Says on standard error how much the search index answered.
    func tell(_ sentence: (SearchCoverage) -> String?) {
        for (reader, coverage) in zip(readers, coverages) {
            guard let sentence = sentence(coverage) else { continue }
            let log = readers.count > 1 ? "\(PlainText.of(reader.identity.origin)): " : ""
            StandardError.print("privyseal: \(log)\(sentence)")
        }
    }

    /// - Throws: `CommandError` that says which entries are missing.
    func refuseMissing() throws {
        for (reader, coverage) in zip(readers, coverages) { try reader.refuse(coverage.missing) }
    }
}
