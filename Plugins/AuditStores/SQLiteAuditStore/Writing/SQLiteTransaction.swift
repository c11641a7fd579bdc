import AuditKit
import SQLite

/// The operations between `BEGIN` and `COMMIT`.
final class SQLiteTransaction: AuditTransaction {
    /// Nil after the end of the transaction, so that a caller that keeps this object cannot use it any more.
    private var open: (tables: LogTables, statements: WritingStatements)?
    /// The index of the next entry; nil before the first entry.
    private var next: Int?

    init(_ tables: LogTables, _ statements: WritingStatements) {
        open = (tables, statements)
    }

    func end() { open = nil }

    private func tables() throws(AuditStoreError) -> LogTables {
        guard let open else { throw .closed }
        return open.tables
    }

    private func following() throws(AuditStoreError) -> Int {
        if let next { return next }
        return try tables().end()
    }

    private func write(_ body: (WritingStatements) throws(SQLiteError) -> Void) throws(AuditStoreError) {
        guard let open else { throw .closed }
        do {
            try body(open.statements)
        } catch {
            throw AuditStoreError(error, at: open.tables.path)
        }
    }

    // MARK: Reading

    func head() throws(AuditStoreError) -> SignedTreeHead? { try tables().head() }

    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        try tables().visit(range, visit)
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try tables().segmentRoots() }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try tables().registers() }

    // MARK: Writing

    func append(_ entry: StoredEntry) throws(AuditStoreError) {
        let next = try following()
        guard entry.index == next else {
            throw .failed("Entry \(entry.index) is out of order: the next entry of the audit log is \(next).")
        }
        try write { (statements) throws(SQLiteError) in
            try statements.entry.bind(entry.index, at: 1)
            try statements.entry.bind(bits: entry.mark, at: 2)
            try statements.entry.run(with: entry.body, at: 3)
        }
        self.next = next + 1
    }

    func close(segment: Int, root: [UInt8]) throws(AuditStoreError) {
        try write { (statements) throws(SQLiteError) in
            try statements.segment.bind(segment, at: 1)
            try statements.segment.run(with: root, at: 2)
        }
    }

    func setHead(_ head: SignedTreeHead) throws(AuditStoreError) {
        try write { (statements) throws(SQLiteError) in try statements.head.run(head) }
    }

    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) {
        try write { (statements) throws(SQLiteError) in try statements.checkpoint.run(checkpoint) }
    }

    func register(_ register: AuditRegister) throws(AuditStoreError) {
        try write { (statements) throws(SQLiteError) in
            try statements.register.bind(register.name, at: 1)
            try statements.register.bind(register.entry, at: 3)
            try statements.register.run(with: register.value, at: 2)
        }
    }

    func drop(segmentsBefore segment: Int) throws(AuditStoreError) {
        // The database's triggers ensure that only closed segments are dropped, and in order.
        try write { (statements) throws(SQLiteError) in
            try statements.begin.bind(segment, at: 1)
            try statements.begin.run()
            try statements.drop.run()
        }
    }
}

extension Statement {
    fileprivate func run(_ head: SignedTreeHead) throws(SQLiteError) {
        try bind(head.size, at: 1)
        try bind(head.note, at: 2)
        try run()
    }
}

/// Prepared once, because every signature waits for an insertion.
final class WritingStatements {
    let beginTransaction: Statement
    let commit: Statement
    let entry: Statement
    let segment: Statement
    let head: Statement
    let checkpoint: Statement
    let register: Statement
    let begin: Statement
    let drop: Statement

    init(on connection: Connection) throws(SQLiteError) {
        beginTransaction = try Statement("BEGIN IMMEDIATE", on: connection)
        commit = try Statement("COMMIT", on: connection)
        entry = try Statement("INSERT INTO entry VALUES (?, ?, ?)", on: connection)
        segment = try Statement("INSERT INTO segment VALUES (?, ?)", on: connection)
        head = try Statement(
            """
            INSERT INTO head VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note
            """, on: connection)
        checkpoint = try Statement(
            "INSERT INTO checkpoint VALUES (?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note",
            on: connection)
        register = try Statement(
            """
            INSERT INTO register VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, entry = excluded.entry
            """, on: connection)
        begin = try Statement("UPDATE log SET first_segment = ?", on: connection)
        drop = try Statement(
            "DELETE FROM entry WHERE idx < (SELECT first_segment FROM log) * \(AuditSegment.size)", on: connection)
    }
}
