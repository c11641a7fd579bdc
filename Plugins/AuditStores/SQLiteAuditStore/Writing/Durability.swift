import SQLite

/// The settings that make a commit durable. Every writing connection sets them and reads them back: a power failure may
/// undo a commit whose write-ahead log was not synchronized, although the client already has the signature.
struct Durability: Hashable, Sendable {
    let journalMode: String?
    /// 2 is FULL: every commit synchronizes the write-ahead log (sqlite.org/pragma.html#pragma_synchronous).
    let synchronous: Int?
    /// 0: SQLite runs no checkpoint within a commit.
    let automaticCopy: Int?

    static let required = Durability(journalMode: "wal", synchronous: 2, automaticCopy: 0)

    static func set(on connection: Connection) throws(SQLiteError) {
        // One call per pragma: a pragma that is set while a statement runs has no effect.
        _ = try connection.pragma("journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        _ = try connection.number("wal_autocheckpoint = 0")
        _ = try connection.number("journal_size_limit = \(WriteAheadLog.limit)")
        // SQLite overwrites deleted content in the file. README.md lists the exceptions.
        _ = try connection.number("secure_delete = ON")
        // SQLite calls no functions in a modified schema, and detects pages with wrong cell sizes.
        try connection.execute("PRAGMA trusted_schema = OFF")
        try connection.execute("PRAGMA cell_size_check = ON")
    }

    init(of connection: Connection) throws(SQLiteError) {
        journalMode = try connection.pragma("journal_mode")
        synchronous = try connection.number("synchronous")
        automaticCopy = try connection.number("wal_autocheckpoint")
    }

    private init(journalMode: String?, synchronous: Int?, automaticCopy: Int?) {
        self.journalMode = journalMode
        self.synchronous = synchronous
        self.automaticCopy = automaticCopy
    }
}
