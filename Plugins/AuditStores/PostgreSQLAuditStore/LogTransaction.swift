import AuditKit
import PostgreSQL

/// The operations between `BEGIN` and `COMMIT`. Entries go to the server in few statements: before a read, at the end,
/// and when many are waiting.
final class LogTransaction: AuditTransaction {
    /// Entries after which they are sent.
    private static let batchSize = 1024

    /// Nil after the end of the transaction, so that a caller that keeps this object cannot use it any more.
    private var open: LogDatabase?
    private let start: LockedHead
    private var newHead: SignedTreeHead?
    private var waiting: [StoredEntry] = []
    /// The index of the next entry; nil before the first entry.
    private var next: Int?

    init(_ database: LogDatabase, _ start: LockedHead) {
        open = database
        self.start = start
    }

    func end() { open = nil }

    func database() throws(AuditStoreError) -> LogDatabase {
        guard let open else { throw .closed }
        return open
    }

    /// Sends the waiting entries and the new head to the server, in one round trip.
    func flush() throws(AuditStoreError) {
        guard let newHead else { return try sendEntries() }
        let database = try database()
        let update = Statement(
            "UPDATE privyseal.log SET size = $4, note = $5 WHERE id = $1 AND epoch = $2 AND size = $3",
            .integer(database.log), .integer(start.epoch), .integer(start.size), .integer(newHead.size),
            .text(newHead.note))
        let counts = try database.run([insertion(in: database), update].compactMap(\.self))
        if !waiting.isEmpty { try database.requireStored(counts.first ?? 0, of: waiting.count) }
        guard counts.last == 1 else {
            throw .fenced("Another writer has changed the audit log in \(database.location.name) meanwhile.")
        }
        (waiting, self.newHead) = ([], nil)
    }

    private func sendEntries() throws(AuditStoreError) {
        let database = try database()
        guard let insertion = insertion(in: database) else { return }
        try database.requireStored(database.run([insertion]).first ?? 0, of: waiting.count)
        waiting = []
    }

    /// Inserts the waiting entries; nil if there are none.
    private func insertion(in database: LogDatabase) -> Statement? {
        guard !waiting.isEmpty else { return nil }
        return Statement(
            """
            INSERT INTO privyseal.entry
            SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])
            """, .integer(database.log), .integers(waiting.map(\.index)),
            .integers(waiting.map { Int(truncatingIfNeeded: $0.mark) }), .byteArrays(waiting.map(\.body)))
    }

    // MARK: Reading

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        _ = try database()
        return newHead ?? start.head
    }

    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try sendEntries()
        try database().visit(range, visit)
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try database().segmentRoots() }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try database().registers() }

    // MARK: Writing

    func append(_ entry: StoredEntry) throws(AuditStoreError) {
        let database = try database()
        let next = if let next { next } else if let head = start.head { head.size } else { try database.end() }
        guard entry.index == next else {
            throw .failed("Entry \(entry.index) is out of order: the next entry of the audit log is \(next).")
        }
        waiting.append(entry)
        self.next = next + 1
        if waiting.count == Self.batchSize { try sendEntries() }
    }

    func close(segment: Int, root: [UInt8]) throws(AuditStoreError) {
        let database = try database()
        try database.store(
            Statement(
                "INSERT INTO privyseal.segment VALUES ($1, $2, $3)", .integer(database.log), .integer(segment),
                .bytes(root)))
    }

    func setHead(_ head: SignedTreeHead) throws(AuditStoreError) {
        _ = try database()
        newHead = head
    }

    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) {
        let database = try database()
        try database.run(
            """
            INSERT INTO privyseal.checkpoint VALUES ($1, $2, $3)
            ON CONFLICT (log, size) DO UPDATE SET note = excluded.note
            WHERE length(excluded.note) >= length(checkpoint.note)
            """, .integer(database.log), .integer(checkpoint.size), .text(checkpoint.note))
    }

    func register(_ register: AuditRegister) throws(AuditStoreError) {
        let database = try database()
        try database.store(
            Statement(
                """
                INSERT INTO privyseal.register VALUES ($1, $2, $3, $4)
                ON CONFLICT (log, name) DO UPDATE SET value = excluded.value, entry = excluded.entry
                """, .integer(database.log), .text(register.name), .bytes(register.value), .integer(register.entry)))
    }

    func drop(segmentsBefore segment: Int) throws(AuditStoreError) {
        try sendEntries()
        let database = try database()
        // The triggers ensure that only closed segments are dropped, and in order.
        try database.run(
            "UPDATE privyseal.log SET first_segment = $2 WHERE id = $1", .integer(database.log), .integer(segment))
        try database.run(
            "DELETE FROM privyseal.entry WHERE log = $1 AND idx < $2", .integer(database.log),
            .integer(segment.multipliedReportingOverflow(by: AuditSegment.size).partialValue))
    }
}
