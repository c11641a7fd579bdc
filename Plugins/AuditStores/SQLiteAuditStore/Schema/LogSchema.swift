import AuditKit
import SQLite

enum LogSchema {
    /// `PSal`: distinguishes these files from other databases (`PRAGMA application_id`).
    static let applicationID = 0x5053_616c
    /// `PRAGMA user_version`.
    static let version = 2
    /// Version 1 had no registers. `upgrade` adds them when a log of that version is opened for writing.
    static let versionWithoutRegisters = 1
    /// In bytes. An entry's body has about 500: larger pages waste less space, smaller ones make small commits cheaper.
    static let pageSize = 8192

    /// In this order. The triggers stop accidental changes of entries, segments and checkpoints. The Merkle tree
    /// reveals deliberate changes.
    static let statements = tables + triggers + registerStatements

    static func statements(of version: Int) -> [String] {
        version == versionWithoutRegisters ? tables + triggers : statements
    }

    static let registerStatements = [
        "CREATE TABLE register (name TEXT PRIMARY KEY, value BLOB NOT NULL, entry INTEGER NOT NULL) STRICT",
        trigger("register_remains", "DELETE ON register", says: "registers are never removed"),
        trigger(
            "register_follows", "UPDATE ON register", says: "a register is replaced by a later one of its name",
            when: "NEW.name IS NOT OLD.name OR NEW.entry <= OLD.entry"),
    ]

    private static let tables = [
        """
        CREATE TABLE log (
            id INTEGER PRIMARY KEY CHECK (id = 1), origin TEXT NOT NULL, format INTEGER NOT NULL,
            first_segment INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE TABLE entry (idx INTEGER PRIMARY KEY, mark INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
        "CREATE TABLE segment (number INTEGER PRIMARY KEY, root BLOB NOT NULL) STRICT",
        "CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT",
        """
        CREATE TABLE head (
            id INTEGER PRIMARY KEY CHECK (id = 1), size INTEGER NOT NULL, note TEXT NOT NULL
        ) STRICT
        """,
    ]

    private static let triggers = [
        trigger("log_stays", "UPDATE OF id, origin, format ON log", says: "a log stays what it is"),
        trigger("log_remains", "DELETE ON log", says: "a log stays what it is"),
        trigger(
            "segment_drops_forward", "UPDATE OF first_segment ON log",
            says: "only closed segments are dropped, in order",
            when: "NEW.first_segment < OLD.first_segment OR NEW.first_segment > (SELECT count(*) FROM segment)"),
        trigger("entry_stays", "UPDATE ON entry", says: "entries are never changed"),
        trigger(
            "entry_remains", "DELETE ON entry", says: "entries are dropped by whole segments",
            when: "OLD.idx >= (SELECT first_segment FROM log) * \(AuditSegment.size)"),
        trigger("segment_stays", "UPDATE ON segment", says: "segments are never changed"),
        trigger("segment_remains", "DELETE ON segment", says: "segments are never removed"),
        trigger(
            "checkpoint_stays", "UPDATE ON checkpoint", says: "checkpoints are never changed",
            when: "NEW.size IS NOT OLD.size"),
        trigger("checkpoint_remains", "DELETE ON checkpoint", says: "checkpoints are never removed"),
        trigger("head_grows", "UPDATE ON head", says: "a log never shrinks", when: "NEW.size < OLD.size"),
        trigger("head_remains", "DELETE ON head", says: "a log never shrinks"),
    ]

    private static func trigger(_ name: String, _ event: String, says: String, when: String? = nil) -> String {
        let condition = when.map { " WHEN \($0)" } ?? ""
        return "CREATE TRIGGER \(name) BEFORE \(event)\(condition) BEGIN SELECT RAISE(ABORT, '\(says)'); END"
    }
}

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
