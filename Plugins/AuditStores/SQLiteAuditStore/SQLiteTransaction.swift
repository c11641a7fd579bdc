import AuditKit
import SQLite

/// The operations between `BEGIN` and `COMMIT`.
final class SQLiteTransaction: AuditTransaction {
    /// Nil after the end of the transaction, so that a caller that keeps this object cannot use it any more.
    private var open: LogTables?
    /// The index of the next entry; nil before the first entry.
    private var next: Int?

    init(_ tables: LogTables) {
        open = tables
    }

    func end() { open = nil }

    private func tables() throws(AuditStoreError) -> LogTables {
        guard let open else { throw .closed }
        return open
    }

    // MARK: Reading

    func head() throws(AuditStoreError) -> SignedTreeHead? { try tables().head() }

    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try tables().visit(range, visit)
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try tables().segmentRoots() }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try tables().registers() }

    // MARK: Writing

    func append(_ entry: StoredEntry) throws(AuditStoreError) {
        let tables = try tables()
        let next = if let next { next } else { try tables.end() }
        guard entry.index == next else {
            throw .failed("Entry \(entry.index) is out of order: the next entry of the audit log is \(next).")
        }
        try tables.run(
            "INSERT INTO entry VALUES (?, ?, ?)", .integer(entry.index), .integer(Int(truncatingIfNeeded: entry.mark)),
            .blob(entry.body))
        self.next = next + 1
    }

    func close(segment: Int, root: [UInt8]) throws(AuditStoreError) {
        try tables().run("INSERT INTO segment VALUES (?, ?)", .integer(segment), .blob(root))
    }

    func setHead(_ head: SignedTreeHead) throws(AuditStoreError) {
        try tables().run(
            """
            INSERT INTO head VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note
            """, .integer(head.size), .text(head.note))
    }

    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) {
        try tables().run(
            "INSERT INTO checkpoint VALUES (?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note",
            .integer(checkpoint.size), .text(checkpoint.note))
    }

    func register(_ register: AuditRegister) throws(AuditStoreError) {
        try tables().run(
            """
            INSERT INTO register VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, entry = excluded.entry
            """, .text(register.name), .blob(register.value), .integer(register.entry))
    }

    func drop(segmentsBefore segment: Int) throws(AuditStoreError) {
        // The database's triggers ensure that only closed segments are dropped, and in order.
        try tables().run("UPDATE log SET first_segment = ?", .integer(segment))
        try tables().run(
            "DELETE FROM entry WHERE idx < (SELECT first_segment FROM log) * \(AuditSegment.size)")
    }
}
