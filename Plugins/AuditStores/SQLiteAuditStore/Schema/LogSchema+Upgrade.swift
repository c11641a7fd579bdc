import SQLite

extension LogSchema {
    /// Gives a log of the first version room for registers; all of it or nothing.
    static func upgrade(_ connection: Connection) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            // Somebody else may have been quicker.
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
