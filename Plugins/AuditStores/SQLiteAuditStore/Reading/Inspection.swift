import AuditKit
import SQLite

/// Checks the store itself: SQLite's check of its pages, the schema and the bookkeeping tables.
struct Inspection {
    /// The maximum number of SQLite's findings in the report.
    private static let limit = 20

    private let tables: LogTables

    init(_ tables: LogTables) {
        self.tables = tables
    }

    func run() throws(AuditStoreError) -> [String] {
        try damage { () throws(AuditStoreError) in try pages() }
            + damage { () throws(AuditStoreError) in try schema() }
            + damage { () throws(AuditStoreError) in try bookkeeping() }
    }

    /// Damage that stops a check is a finding, too.
    private func damage(_ look: () throws(AuditStoreError) -> [String]) throws(AuditStoreError) -> [String] {
        do throws(AuditStoreError) {
            return try look()
        } catch {
            guard case .damaged(let sentence) = error else { throw error }
            return [sentence]
        }
    }

    private func schema() throws(AuditStoreError) -> [String] {
        try AuditStoreError.at(tables.path) { () throws(SQLiteError) in
            try LogSchema.differences(in: tables.connection)
        }
    }

    private func pages() throws(AuditStoreError) -> [String] {
        let findings = try tables.all("PRAGMA integrity_check(\(Self.limit))") { $0.text(0) }
        return findings == ["ok"] ? [] : findings.map { "SQLite finds: \($0)." }
    }

    private func bookkeeping() throws(AuditStoreError) -> [String] {
        var sentences: [String] = []
        if try count("SELECT count(*) FROM log") != 1 { sentences.append("The log must state its identity once.") }
        let first = try tables.firstSegment()
        let segments = try tables.segmentRoots().count
        if first > segments {
            sentences.append("\(first) segments were dropped, but only \(segments) were closed.")
        }
        let early = try count("SELECT count(*) FROM entry WHERE idx < \(first * AuditSegment.size)")
        if early > 0 {
            let count = early == 1 ? "1 entry is" : "\(early) entries are"
            sentences.append("\(count) before index \(first * AuditSegment.size), where the log begins.")
        }
        let heads = try count("SELECT count(*) FROM head")
        let entries = try count("SELECT count(*) FROM (SELECT 1 FROM entry LIMIT 1)") + first
        if heads > 1 { sentences.append("The log has \(heads) heads.") }
        if heads == 0 && entries > 0 { sentences.append("The log has entries and no head.") }
        let roots = try count("SELECT count(*) FROM segment WHERE length(root) <> 32")
        if roots > 0 { sentences.append("\(roots) roots of segments are not hashes.") }
        return sentences + (try files())
    }

    private func files() throws(AuditStoreError) -> [String] {
        let mode = try tables.first("PRAGMA journal_mode") { $0.text(0) }
        // Without a writer, the database is read as if it had no log: see `ReadingSource`.
        return mode == "wal" || mode == "off" || mode == "delete" ? [] : ["The journal mode is \(mode ?? "unknown")."]
    }

    private func count(_ sql: String) throws(AuditStoreError) -> Int {
        try tables.first(sql) { $0.integer(0) } ?? 0
    }
}
