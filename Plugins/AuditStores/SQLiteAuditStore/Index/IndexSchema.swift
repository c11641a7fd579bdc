import AuditKit
import SQLite

/// The search index: everything in it is derived from the log and can be made again, so that it is thrown away rather than
/// repaired. What it finds is looked up in the log.
enum IndexSchema {
    /// `PSix`.
    static let applicationID = 0x5053_6978
    /// Another one is thrown away.
    static let version = 1
    private static let pageSize = 4096

    private static let tables = [
        "CREATE TABLE log (id INTEGER PRIMARY KEY, origin TEXT NOT NULL) STRICT",
        // Bound to the entries by the root of their subtree. Times in milliseconds.
        """
        CREATE TABLE segment (
            number INTEGER PRIMARY KEY, root BLOB NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE term (
            id INTEGER PRIMARY KEY, field INTEGER NOT NULL, value BLOB NOT NULL, UNIQUE (field, value)
        ) STRICT
        """,
        // The segment first: rows come in order, and a search goes from segment to segment.
        """
        CREATE TABLE posting (
            segment INTEGER NOT NULL, term INTEGER NOT NULL, positions BLOB NOT NULL, PRIMARY KEY (segment, term)
        ) STRICT, WITHOUT ROWID
        """,
        // `id` is segment × 16 + field.
        "CREATE TABLE hashed (id INTEGER PRIMARY KEY, numbers BLOB NOT NULL) STRICT",
        // Terms; 0 where there is none.
        """
        CREATE TABLE tally (
            segment INTEGER NOT NULL, hour INTEGER NOT NULL, client INTEGER NOT NULL, feature INTEGER NOT NULL,
            key INTEGER NOT NULL, outcome INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (segment, hour, client, feature, key, outcome)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    /// For `hashed`.
    static func row(of field: AuditTerm, in segment: Int) -> Int { segment * 16 + field.number }

    static func create(in connection: Connection, origin: String) throws(SQLiteError) {
        try connection.execute("PRAGMA page_size = \(pageSize)")
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(version)")
        for table in tables { try connection.execute(table) }
        let insert = try Statement("INSERT INTO log VALUES (1, ?)", on: connection)
        try insert.bind(origin, at: 1)
        try insert.run()
        try connection.execute("COMMIT")
    }

    /// Whether it is an index of this version, of the log.
    static func fits(_ connection: Connection, origin: String) throws(SQLiteError) -> Bool {
        guard try connection.number("application_id") == applicationID,
            try connection.number("user_version") == version
        else { return false }
        // Nothing else may be in it: a view can go on for ever, and a trigger would run with every row that is written.
        let found = try connection.all("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
        guard found.sorted() == tables.sorted() else { return false }
        return try connection.first("SELECT origin FROM log") { $0.text(0) } == origin
    }
}
