import AuditKit
import SQLite

extension LogSchema {
    static func create(in connection: Connection, identity: AuditIdentity) throws(SQLiteError) {
        try connection.execute("PRAGMA page_size = \(pageSize)")
        try connection.execute("PRAGMA encoding = 'UTF-8'")
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(version)")
        for statement in statements { try connection.execute(statement) }
        let insert = try Statement("INSERT INTO log VALUES (1, ?, ?, 0)", on: connection)
        try insert.bind(identity.origin, at: 1)
        try insert.bind(identity.formatVersion, at: 2)
        try insert.run()
        try connection.execute("COMMIT")
        // The file stores this mode, so later connections also use a write-ahead log.
        _ = try connection.pragma("journal_mode = WAL")
    }
}
