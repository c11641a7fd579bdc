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

    private static let registerStatements = [
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
        try connection.run(
            "INSERT INTO log VALUES (1, ?, ?, 0)", .text(identity.origin), .integer(identity.formatVersion))
        try connection.execute("COMMIT")
        // The file stores this mode, so later connections also use a write-ahead log.
        _ = try connection.pragma("journal_mode = WAL")
    }

    /// Adds the registers to a log of version 1, in one transaction.
    static func upgrade(_ connection: Connection) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            // Another process may have upgraded the log first.
            guard try connection.number("user_version") == versionWithoutRegisters else { return }
            for statement in registerStatements { try connection.execute(statement) }
            try connection.execute("PRAGMA user_version = \(version)")
        }
    }

    /// A sentence for each table, trigger or index that is missing, unknown or modified.
    static func differences(in connection: Connection) throws(SQLiteError) -> [String] {
        let version = try connection.number("user_version") ?? version
        // SQLite stores the text of each statement. A new database in memory has the expected texts.
        let model = try Connection(path: ":memory:", access: .create)
        for statement in version == versionWithoutRegisters ? tables + triggers : statements {
            try model.execute(statement)
        }
        let expected = try objects(in: model)
        let found = try objects(in: connection)
        var sentences: [String] = []
        for (name, text) in expected.sorted(by: { $0.key < $1.key }) where found[name] != text {
            sentences.append(
                found[name] == nil
                    ? "The \(name) is missing." : "The \(name) does not have its original definition: it was changed.")
        }
        for name in found.keys.sorted() where expected[name] == nil {
            sentences.append("The \(name) does not belong in an audit log.")
        }
        return sentences
    }

    /// Statement texts by kind and name.
    private static func objects(in connection: Connection) throws(SQLiteError) -> [String: String] {
        let rows = try connection.all("SELECT type, name, tbl_name, sql FROM sqlite_schema") {
            (name: "\($0.text(0)) '\($0.text(1))'", text: "\($0.text(2)): \($0.text(3))")
        }
        return Dictionary(rows.map { ($0.name, $0.text) }) { first, second in first + "; " + second }
    }
}

extension LogTables {
    /// - Returns: the version of the schema.
    /// - Throws: `.unfit` unless the file is a log of a version that this program knows.
    @discardableResult
    func checkKind() throws(AuditStoreError) -> Int {
        let kind: (application: Int?, version: Int?)
        do {
            kind = (try connection.number("application_id"), try connection.number("user_version"))
        } catch {
            guard error.code.primary == .notADatabase else { throw AuditStoreError(error, at: path) }
            throw .unfit("\(path) is not an audit log: \(error).")
        }
        guard kind.application == LogSchema.applicationID else {
            throw .unfit("\(path) is empty, or another database than an audit log.")
        }
        guard let found = kind.version, [LogSchema.version, LogSchema.versionWithoutRegisters].contains(found) else {
            throw .unfit(
                "The audit log \(path) has version \(kind.version ?? 0) of the store; this program supports "
                    + "\(LogSchema.version).")
        }
        return found
    }

    /// Throws if another object replaces a table, or one of its columns is computed: to read such an object may never
    /// end. An additional column is harmless, and `differences` reports it.
    func checkTables() throws(AuditStoreError) {
        let found = try all("SELECT name, sql FROM sqlite_schema WHERE type <> 'trigger' AND type <> 'index'") {
            (name: $0.text(0), text: $0.text(1))
        }
        for object in found {
            // SQLite ignores the case of names.
            let beginning = "CREATE TABLE \(object.name.lowercased()) ("
            guard let made = LogSchema.statements.first(where: { $0.hasPrefix(beginning) }) else { continue }
            let columns = made.dropLast(") STRICT".count)
            guard !object.text.hasPrefix(columns.last?.isNewline == true ? columns.dropLast() : columns) else {
                continue
            }
            throw .damaged(
                "The table '\(object.name)' of the audit log \(path) does not have its original definition: it was "
                    + "changed.")
        }
    }

    func identity() throws(AuditStoreError) -> AuditIdentity {
        let identity = try first("SELECT origin, format FROM log") {
            AuditIdentity(origin: $0.text(0), formatVersion: $0.integer(1))
        }
        guard let identity else { throw .damaged("The audit log \(path) does not state its identity.") }
        guard identity.formatVersion == AuditIdentity.currentFormat else {
            throw .unfit(
                "The entries of the audit log \(path) have format \(identity.formatVersion); this program supports "
                    + "\(AuditIdentity.currentFormat).")
        }
        return identity
    }
}
