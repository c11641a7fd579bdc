import SQLite

extension LogSchema {
    /// Adds the registers to a log of version 1, in one transaction.
    static func upgrade(_ connection: Connection) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            // Another process may have upgraded the log first.
            if try connection.number("user_version") == versionWithoutRegisters {
                for statement in registerStatements { try connection.execute(statement) }
                try connection.execute("PRAGMA user_version = \(version)")
            }
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}
