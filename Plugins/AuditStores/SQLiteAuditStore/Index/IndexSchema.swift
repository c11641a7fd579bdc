import AuditKit
import SQLite

/// The search index, a database of its own. All of it is derived from the log, so a damaged index is removed and built
/// again. A search reads each entry that the index names in the log.
enum IndexSchema {
    /// `PSix`.
    static let applicationID = 0x5053_6978
    /// An index of another version is removed.
    static let version = 2
    private static let pageSize = 4096

    private static let tables = [
        "CREATE TABLE log (id INTEGER PRIMARY KEY, origin TEXT NOT NULL) STRICT",
        // The root of the segment's subtree binds the index to the entries. Times in milliseconds.
        """
        CREATE TABLE segment (
            number INTEGER PRIMARY KEY, root BLOB NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL
        ) STRICT
        """,
        // One row for each value of an entry. The segment comes first, so that the table grows at its end.
        """
        CREATE TABLE value (
            segment INTEGER NOT NULL, field INTEGER NOT NULL, hash INTEGER NOT NULL, position INTEGER NOT NULL,
            PRIMARY KEY (segment, field, hash, position)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE tally (
            segment INTEGER NOT NULL, hour INTEGER NOT NULL, client TEXT, feature TEXT, key TEXT, outcome TEXT NOT NULL,
            count INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX tally_segment ON tally (segment)",
    ]

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

    /// Whether it is an index of this version and of this log.
    static func fits(_ connection: Connection, origin: String) throws(SQLiteError) -> Bool {
        guard try connection.number("application_id") == applicationID,
            try connection.number("user_version") == version
        else { return false }
        // Refuse any other object: a view may never end, and a trigger would run with every row that is written.
        let found = try connection.all("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
        guard found.sorted() == tables.sorted() else { return false }
        return try connection.first("SELECT origin FROM log") { $0.text(0) } == origin
    }
}

extension AuditTerm {
    /// The number of the field in the index.
    var number: Int {
        switch self {
        case .client: 1
        case .app: 2
        case .feature: 3
        case .product: 4
        case .offer: 5
        case .key: 6
        case .outcome: 7
        case .requestID: 8
        case .kind: 9
        case .user: 10
        }
    }

    /// FNV-1a with 32 bits, of the UTF-8 bytes. A search reads the entry, so two values may have one hash.
    static func hash(_ value: String) -> Int {
        var hash: UInt32 = 0x811c_9dc5
        for byte in value.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(hash)
    }
}
