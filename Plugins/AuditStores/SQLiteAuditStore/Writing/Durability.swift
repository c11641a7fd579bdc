import SQLite

/// What makes a commit last, set and read back on every connection that writes: a commit whose write-ahead log was not
/// synchronized may be gone after a power failure, and the signature would be out.
struct Durability: Hashable, Sendable {
    let journalMode: String?
    /// 2 is FULL: the write-ahead log is synchronized at every commit (sqlite.org/pragma.html#pragma_synchronous).
    let synchronous: Int?
    /// 0: no commit copies the log into the database on its way; see `LogCopying`.
    let automaticCopy: Int?

    static let required = Durability(journalMode: "wal", synchronous: 2, automaticCopy: 0)

    /// Bytes that the write-ahead log keeps when it starts anew.
    static let keptLogSize = 32 << 20

    static func set(on connection: Connection) throws(SQLiteError) {
        // Each pragma on its own: one that is set while a statement runs has no effect.
        _ = try connection.pragma("journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        _ = try connection.number("wal_autocheckpoint = 0")
        _ = try connection.number("journal_size_limit = \(keptLogSize)")
        // What is dropped is overwritten in the file too, but for the rests that README.md tells of.
        _ = try connection.number("secure_delete = ON")
        // Functions in a schema that somebody changed are not called; a page that lies about its cells is seen.
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
