import AuditKit
import PostgreSQL
import Synchronization

/// The connection that appends entries.
final class LogWriter {
    let database: LogDatabase
    /// Nil for a command, which writes in the epoch of the gateway.
    private let claim: EpochClaim?

    var isUsable: Bool { database.connection.isUsable }

    init(_ location: DatabaseLocation, _ claim: EpochClaim?, timeout: Duration) throws(AuditStoreError) {
        let database = try LogDatabase(location, for: .readWrite(timeout: timeout))
        self.database = database
        self.claim = claim
        try database.requireDurability()
        if let first = try database.schemaFaults().first {
            throw .damaged("The audit log in \(location.name) has a changed schema. \(first)")
        }
        if let weakness = try Self.durability(of: database).weakness(for: location.durability) {
            throw .unfit("The database \(location.name) may lose entries: \(weakness)")
        }
    }

    private static func durability(of database: LogDatabase) throws(AuditStoreError) -> ServerDurability {
        let rows = try database.all("SELECT \(ServerDurability.columns)") { ServerDurability($0, from: 0) }
        guard let settings = rows.first else { throw .failed("The server does not state its settings.") }
        return settings
    }

    func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        let (location, connection) = (database.location, database.connection)
        _ = connection.takeWarning()
        do throws(AuditStoreError) {
            let head = try begin()
            let transaction = LogTransaction(database, head)
            defer { transaction.end() }
            let outcome = try body(transaction)
            try transaction.flush()
            let newEpoch = try claimEpoch(after: head.epoch)
            // The server answers ROLLBACK to the COMMIT of a transaction that has failed.
            let tag = try database.execute("COMMIT")
            guard tag == "COMMIT" else { throw .failed("The database \(location.name) did not commit: \(tag).") }
            // An administrator can cancel the wait for the standby. The commit then succeeds with a warning.
            if let warning = connection.takeWarning() {
                throw .failed("The commit may not be on the standby of \(location.name): \(warning).")
            }
            if let newEpoch { claim?.epoch = newEpoch }
            return outcome
        } catch {
            if isUsable { _ = try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Begins the next epoch of the log with the first transaction of a gateway. The gateway of the epoch before cannot
    /// write any more.
    ///
    /// - Returns: nil if this gateway has an epoch, and for a command.
    private func claimEpoch(after epoch: Int) throws(AuditStoreError) -> Int? {
        guard let claim, claim.epoch == nil else { return nil }
        guard epoch < Int.max else { throw .damaged("The audit log in \(database.location.name) has no next epoch.") }
        try database.run(
            "UPDATE privyseal.log SET epoch = $2 WHERE id = $1", .integer(database.log), .integer(epoch + 1))
        return epoch + 1
    }

    /// Begins a transaction that locks the row of the log, and reads the head from the row.
    private func begin() throws(AuditStoreError) -> LockedHead {
        let name = database.location.name
        let rows = try database.begin(
            Statement(
                "SELECT size, note, epoch, \(ServerDurability.columns) FROM privyseal.log WHERE id = $1 FOR UPDATE",
                .integer(database.log))
        ) { row in
            (
                head: LockedHead(head: LogDatabase.readHead(row), size: row.integer(0), epoch: row.integer(2)),
                durability: ServerDurability(row, from: 3)
            )
        }
        guard let row = rows.first else { throw .missing("The audit log in \(name) is gone.") }
        try claim?.check(row.head.epoch, in: name, database.identity)
        if let weakness = row.durability.weakness(for: database.location.durability) {
            throw .failed("The database \(name) may lose entries: \(weakness)")
        }
        _ = try database.checked(row.head.head)
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

/// The epoch that a gateway has claimed. Its connections share it: after it was fenced, a new connection must not take
/// the log back.
final class EpochClaim: Sendable {
    private let state = Mutex<Int?>(nil)

    /// Nil before the first transaction.
    var epoch: Int? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Throws unless the epoch in the database is still the one that was claimed.
    func check(_ found: Int, in name: String, _ identity: AuditIdentity) throws(AuditStoreError) {
        guard let epoch, found != epoch else { return }
        guard found > epoch else {
            throw .replaced(
                "The audit log \(identity.origin) in \(name) has an earlier epoch than before: an older copy replaced "
                    + "it. Restore the right one.")
        }
        throw .fenced(
            "Another gateway has taken over the audit log \(identity.origin) in \(name). Stop one of them; then start "
                + "this one again if it should go on.")
    }
}
