import AuditKit
import PostgreSQL

/// The connection that appends entries.
final class LogWriter {
    let database: LogDatabase
    /// The epoch that this gateway has claimed; nil for a command, which writes in the epoch of the gateway.
    private let epoch: Int?

    var isUsable: Bool { database.connection.isUsable }
    var identity: AuditIdentity { database.identity }

    /// - Parameter epoch: of the connection before; nil for the first one.
    init(
        _ location: DatabaseLocation, as role: AuditRole, epoch: Int?, timeout: Duration
    ) throws(AuditStoreError) {
        let database = try LogDatabase(location, for: .readWrite(timeout: timeout))
        self.database = database
        try location.mappingErrors { () throws(PostgreSQLError) in
            try ServerDurability.require(in: database.connection)
        }
        if let first = try database.schemaFaults().first {
            throw .damaged("The audit log in \(location.name) has a changed schema. \(first)")
        }
        if let weakness = try Self.durability(of: database).weakness(for: location.durability) {
            throw .unfit("The database \(location.name) may lose entries: \(weakness)")
        }
        if epoch == nil, role == .gateway {
            self.epoch = try Self.claim(database)
        } else {
            self.epoch = epoch
        }
    }

    private static func durability(of database: LogDatabase) throws(AuditStoreError) -> ServerDurability {
        let rows = try database.all("SELECT \(ServerDurability.columns)") { ServerDurability($0, from: 0) }
        guard let settings = rows.first else { throw .failed("The server does not state its settings.") }
        return settings
    }

    /// Begins the next epoch of the log. The gateway of the last one cannot write any more.
    private static func claim(_ database: LogDatabase) throws(AuditStoreError) -> Int {
        let epochs = try database.all(
            "UPDATE privyseal.log SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch", .integer(database.log)
        ) { $0.integer(0) }
        guard let epoch = epochs.first else { throw .missing("The audit log in \(database.location.name) is gone.") }
        return epoch
    }

    /// The epoch for the next connection of the same gateway.
    var claimedEpoch: Int? { epoch }

    func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        let (location, connection) = (database.location, database.connection)
        _ = connection.takeWarning()
        try execute("BEGIN")
        do throws(AuditStoreError) {
            let transaction = try LogTransaction(database, try lockHead())
            defer { transaction.end() }
            let outcome = try body(transaction)
            try transaction.flush()
            // The server answers ROLLBACK to the COMMIT of a transaction that has failed.
            let tag = try execute("COMMIT")
            guard tag == "COMMIT" else { throw .failed("The database \(location.name) did not commit: \(tag).") }
            // An administrator can cancel the wait for the standby. The commit then succeeds with a warning.
            if let warning = connection.takeWarning() {
                throw .failed("The commit may not be on the standby of \(location.name): \(warning).")
            }
            return outcome
        } catch {
            if isUsable { _ = try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    @discardableResult
    private func execute(_ sql: String) throws(AuditStoreError) -> String {
        try database.location.mappingErrors { () throws(PostgreSQLError) in try database.connection.execute(sql) }
    }

    /// Locks the row of the log for this transaction, and reads the head from it.
    private func lockHead() throws(AuditStoreError) -> LockedHead {
        let name = database.location.name
        let rows = try database.all(
            "SELECT size, note, epoch, \(ServerDurability.columns) FROM privyseal.log WHERE id = $1 FOR UPDATE",
            .integer(database.log)
        ) { row in
            (
                head: LockedHead(head: LogDatabase.readHead(row), size: row.integer(0), epoch: row.integer(2)),
                durability: ServerDurability(row, from: 3)
            )
        }
        guard let row = rows.first else { throw .missing("The audit log in \(name) is gone.") }
        guard epoch == nil || row.head.epoch == epoch else {
            throw .fenced(
                "Another gateway has taken over the audit log \(identity.origin) in \(name). Stop one of them; then "
                    + "start this one again if it should go on.")
        }
        if let weakness = row.durability.weakness(for: database.location.durability) {
            throw .failed("The database \(name) may lose entries: \(weakness)")
        }
        return row.head
    }
}

/// The row of a log at the start of a transaction, which has locked it.
struct LockedHead {
    /// Nil for a log without entries.
    let head: SignedTreeHead?
    let size: Int
    let epoch: Int
}
