import AuditKit
import SQLite

/// Reads a log, or a copy of one.
final class SQLiteAuditReader: AuditReader {
    let identity: AuditIdentity
    let location: LogLocation
    private var source: ReadingSource?

    init(at location: LogLocation) throws(AuditStoreError) {
        self.location = location
        let source = try ReadingSource(at: location.path)
        identity = source.identity
        self.source = source
    }

    func close() { source = nil }

    /// The tables of the files that are there now.
    func tables() throws(AuditStoreError) -> LogTables {
        guard let source else { throw .closed }
        if try source.isCurrent() { return source.tables }
        let renewed = try ReadingSource(at: location.path)
        guard renewed.identity == identity else {
            throw .replaced("At \(location.path) there is another audit log now: of \(renewed.identity.origin).")
        }
        self.source = renewed
        return renewed.tables
    }

    func head() throws(AuditStoreError) -> AuditHead? { try tables().head() }

    func firstIndex() throws(AuditStoreError) -> Int { try tables().firstIndex() }

    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        var range = range
        while !range.isEmpty {
            // Looked up for each batch: reading all of a log takes a while, and a writer may come.
            let entries = try tables().batch(of: range)
            for entry in entries where try !visit(entry) { return }
            guard entries.count == LogTables.batchSize, let last = entries.last else { return }
            range = last.index + 1..<range.upperBound
        }
    }

    func storedEnd() throws(AuditStoreError) -> Int { try tables().end() }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try tables().segmentRoots() }

    func checkpoints() throws(AuditStoreError) -> [AuditHead] { try tables().checkpoints() }
    func search(
        _ query: AuditQuery, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        var search = try EntrySearch(query, self)
        for span in search.spans where try !search.visit(span, visit) { return }
    }

    func tallies(_ query: AuditQuery) throws(AuditStoreError) -> [AuditTally] {
        var tallying = try EntryTallying(query, self)
        return try tallying.run()
    }

    func inspect() throws(AuditStoreError) -> [String] { try Inspection(tables()).run() }
}
