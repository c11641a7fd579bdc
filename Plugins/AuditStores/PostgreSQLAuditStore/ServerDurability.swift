import AuditKit
import PostgreSQL

/// The settings of the server that make a commit durable. A transaction reads them together with the head of the log,
/// because an administrator can change them at any time.
struct ServerDurability {
    /// Expressions for a SELECT, whose columns `init` reads.
    static let columns =
        "current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')"

    private let fsync: String
    private let synchronousCommit: String
    private let standbyNames: String

    /// - Parameter column: the first of `columns`.
    init(_ row: Row, from column: Int32) {
        fsync = row.text(column)
        synchronousCommit = row.text(column + 1)
        standbyNames = row.text(column + 2)
    }

    /// Makes commits of this connection wait for the disk and the standby. This overrides a setting of the role or of the
    /// database.
    static func require(in connection: Connection) throws(PostgreSQLError) {
        // `remote_apply` waits for more.
        try connection.visit(
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') <> 'remote_apply'
            """
        ) { _ in true }
    }

    /// A sentence about the setting that may lose entries; nil if there is none.
    func weakness(for durability: AuditDurability) -> String? {
        if fsync != "on" {
            return "it has fsync = \(fsync), so a power failure loses entries. Set it to on."
        }
        if synchronousCommit != "on", synchronousCommit != "remote_apply" {
            return "synchronous_commit is \(synchronousCommit), so a commit may be lost. Set it to on."
        }
        if durability == .replicated, standbyNames.isEmpty {
            return "it has no synchronous standby, so the loss of the server loses entries. Set "
                + "synchronous_standby_names, or accept the loss with audit.durability: oneServer, or --one-server of a "
                + "command."
        }
        return nil
    }
}
