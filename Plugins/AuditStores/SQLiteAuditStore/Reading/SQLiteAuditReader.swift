import AuditKit
import SQLite

/// Reads a log, or a copy of one.
final class SQLiteAuditReader: AuditReader {
    let identity: AuditIdentity
    let location: LogLocation
    /// Set only during a read: an open connection would keep removed files open.
    private var source: ReadingSource?
    private var isClosed = false

    init(at location: LogLocation) throws(AuditStoreError) {
        self.location = location
        identity = try ReadingSource(at: location.path).identity
    }

    func close() { isClosed = true }

    private func reading<Value>(
        _ body: (LogTables) throws(AuditStoreError) -> Value
    ) throws(AuditStoreError) -> Value {
        // A visit may start another read.
        let isOutermost = source == nil
        defer { if isOutermost { source = nil } }
        return try body(tables())
    }

    /// The tables of the current files.
    func tables() throws(AuditStoreError) -> LogTables {
        guard !isClosed else { throw .closed }
        if let source, try source.isCurrent() { return source.tables }
        let opened = try ReadingSource(at: location.path)
        guard opened.identity == identity else {
            throw .replaced("\(location.path) is another audit log now, of \(opened.identity.origin).")
        }
        source = opened
        return opened.tables
    }

    // MARK: AuditReader

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        try reading { (tables) throws(AuditStoreError) in try tables.head() }
    }

    func firstIndex() throws(AuditStoreError) -> Int {
        try reading { (tables) throws(AuditStoreError) in try tables.firstIndex() }
    }

    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        try reading { (_) throws(AuditStoreError) in
            var range = range
            while !range.isEmpty {
                // Get the tables for each batch: to read a whole log takes time, and a writer may open it meanwhile.
                let entries = try self.tables().batch(of: range)
                for entry in entries where try !visit(entry) { return }
                guard entries.count == LogTables.batchSize, let last = entries.last else { return }
                range = last.index + 1..<range.upperBound
            }
        }
    }

    func storedEnd() throws(AuditStoreError) -> Int {
        try reading { (tables) throws(AuditStoreError) in try tables.end() }
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] {
        try reading { (tables) throws(AuditStoreError) in try tables.segmentRoots() }
    }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] {
        try reading { (tables) throws(AuditStoreError) in try tables.checkpoints() }
    }

    func registers() throws(AuditStoreError) -> [AuditRegister] {
        try reading { (tables) throws(AuditStoreError) in try tables.registers() }
    }

    func search(
        _ query: AuditQuery, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> SearchCoverage {
        try reading { (_) throws(AuditStoreError) in
            var search = try EntrySearch(query, self)
            for span in search.spans where try !search.visit(span, visit) {
                search.stop()
                break
            }
            return search.coverage
        }
    }

    func tallies(
        _ query: AuditQuery
    ) throws(AuditStoreError) -> (tallies: [AuditTally], coverage: SearchCoverage) {
        try reading { (_) throws(AuditStoreError) in
            var tallying = try EntryTally(query, self)
            return (try tallying.run(), tallying.coverage)
        }
    }

    func inspect() throws(AuditStoreError) -> [String] {
        try reading { (tables) throws(AuditStoreError) in try Inspection(tables).run() }
    }
}
