import AuditKit
import PostgreSQL

/// The tables, all in the schema `privyseal`. One database holds the logs of many gateways.
enum LogSchema {
    static let version = 1

    /// In this order. The triggers stop accidental changes of entries, segments and checkpoints. The Merkle tree reveals
    /// deliberate changes.
    static let statements =
        ["CREATE SCHEMA privyseal"] + tables.map(\.statement) + [
            "CREATE INDEX index_tally_segment ON privyseal.index_tally (log, segment)"
        ] + functions
        + triggers.map(\.statement)

    struct Table {
        let name: String
        /// Name and type; `NULL` at the end if the column may be.
        let columns: [String]
        var constraint = ""
        /// Room in each page for new versions of its rows, in percent of the page; nil for PostgreSQL's default.
        var fillFactor: Int?

        var statement: String {
            let columns = columns.map { $0.hasSuffix(" NULL") ? $0 : $0 + " NOT NULL" }
            let parts = constraint.isEmpty ? columns : columns + [constraint]
            let storage = fillFactor.map { " WITH (fillfactor = \($0))" } ?? ""
            return "CREATE TABLE privyseal.\(name) (\(parts.joined(separator: ", ")))\(storage)"
        }
    }

    static let tables = [
        Table(name: "version", columns: ["number bigint"]),
        // Every batch of entries updates the row of its log: its size and note are the signed tree head.
        Table(
            name: "log",
            columns: [
                "id bigint GENERATED ALWAYS AS IDENTITY", "origin text", "format bigint", "first_segment bigint",
                "epoch bigint", "size bigint", "note text",
            ], constraint: "PRIMARY KEY (id), UNIQUE (origin)", fillFactor: 10),
        Table(
            name: "entry", columns: ["log bigint", "idx bigint", "mark bigint", "body bytea"],
            constraint: "PRIMARY KEY (log, idx)"),
        Table(
            name: "segment", columns: ["log bigint", "number bigint", "root bytea"],
            constraint: "PRIMARY KEY (log, number)"),
        Table(
            name: "checkpoint", columns: ["log bigint", "size bigint", "note text"],
            constraint: "PRIMARY KEY (log, size)"),
        Table(
            name: "register", columns: ["log bigint", "name text", "value bytea", "entry bigint"],
            constraint: "PRIMARY KEY (log, name)"),
        // The leases of the gateways of a fleet, see `FleetMembership`. They are not part of a log.
        Table(
            name: "member",
            columns: [
                "log bigint", "fleet bigint", "epoch bigint", "renewed bigint", "gone bigint", "applied bigint",
                "answer text",
            ], constraint: "PRIMARY KEY (log)", fillFactor: 10),
        // Values that the gateways of a fleet share, see `FleetMembership`. They are not part of a log.
        Table(
            name: "shared", columns: ["fleet bigint", "name text", "value bytea NULL"],
            constraint: "PRIMARY KEY (fleet, name)", fillFactor: 50),
        // The search index. All of it can be made again from the entries.
        Table(
            name: "index_segment",
            columns: ["log bigint", "number bigint", "root bytea", "earliest bigint", "latest bigint"],
            constraint: "PRIMARY KEY (log, number)"),
        // Positions in the segment: two bytes each, big-endian, in ascending order.
        Table(
            name: "index_value",
            columns: ["log bigint", "segment bigint", "field bigint", "hash bigint", "positions bytea"],
            constraint: "PRIMARY KEY (log, segment, field, hash)"),
        Table(
            name: "index_tally",
            columns: [
                "log bigint", "segment bigint", "hour bigint", "client bytea NULL", "feature bytea NULL",
                "key bytea NULL", "outcome bytea", "count bigint",
            ]),
    ]

    static let functions = [
        """
        CREATE FUNCTION privyseal.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING MESSAGE = TG_ARGV[0]; END $$
        """,
        """
        CREATE FUNCTION privyseal.check_entry_removal() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF OLD.idx >= (SELECT first_segment FROM privyseal.log WHERE id = OLD.log) * \(AuditSegment.size) THEN
                RAISE EXCEPTION 'entries are dropped by whole segments';
            END IF;
            RETURN OLD;
        END $$
        """,
        """
        CREATE FUNCTION privyseal.check_segment_drop() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.first_segment < OLD.first_segment
                OR NEW.first_segment > (SELECT count(*) FROM privyseal.segment WHERE log = OLD.id) THEN
                RAISE EXCEPTION 'only closed segments are dropped, in order';
            END IF;
            RETURN NEW;
        END $$
        """,
    ]

    struct Trigger {
        let name: String
        let event: String
        let table: String
        var condition: String?
        let function: String

        var statement: String {
            let rows = event == "TRUNCATE" ? "STATEMENT" : "ROW"
            let when = condition.map { " WHEN (\($0))" } ?? ""
            return "CREATE TRIGGER \(name) BEFORE \(event) ON privyseal.\(table) FOR EACH \(rows)\(when) "
                + "EXECUTE FUNCTION privyseal.\(function)"
        }
    }

    static let triggers =
        [
            refusal(
                "log_stays", "UPDATE", "log", says: "a log stays what it is",
                when: "NEW.id <> OLD.id OR NEW.origin <> OLD.origin OR NEW.format <> OLD.format"),
            refusal(
                "log_grows", "UPDATE", "log", says: "a log never shrinks",
                when: "NEW.size < OLD.size OR NEW.epoch < OLD.epoch"),
            refusal("log_remains", "DELETE", "log", says: "a log is never removed"),
            Trigger(
                name: "log_drops_forward", event: "UPDATE OF first_segment", table: "log",
                function: "check_segment_drop()"),
            refusal("entry_stays", "UPDATE", "entry", says: "entries are never changed"),
            Trigger(name: "entry_remains", event: "DELETE", table: "entry", function: "check_entry_removal()"),
            refusal("segment_stays", "UPDATE", "segment", says: "segments are never changed"),
            refusal("segment_remains", "DELETE", "segment", says: "segments are never removed"),
            refusal(
                "checkpoint_stays", "UPDATE", "checkpoint", says: "checkpoints are never changed",
                when: "NEW.log <> OLD.log OR NEW.size <> OLD.size"),
            refusal("checkpoint_remains", "DELETE", "checkpoint", says: "checkpoints are never removed"),
            refusal(
                "register_follows", "UPDATE", "register", says: "a register is replaced by a later one of its name",
                when: "NEW.log <> OLD.log OR NEW.name <> OLD.name OR NEW.entry <= OLD.entry"),
            refusal("register_remains", "DELETE", "register", says: "registers are never removed"),
        ]
        + ["log", "entry", "segment", "checkpoint", "register"].map {
            refusal("\($0)_is_not_emptied", "TRUNCATE", $0, says: "a log is never emptied")
        }

    private static func refusal(
        _ name: String, _ event: String, _ table: String, says: String, when condition: String? = nil
    ) -> Trigger {
        Trigger(name: name, event: event, table: table, condition: condition, function: "refuse('\(says)')")
    }
}

extension LogSchema {
    /// Creates the tables in a database that has none. The caller has begun a transaction.
    static func create(in connection: Connection) throws(PostgreSQLError) {
        // For other gateways that create it now. The lock ends with the transaction.
        try connection.visit("SELECT pg_advisory_xact_lock(\(lock))") { _ in true }
        guard try version(in: connection) == nil else { return }
        for statement in statements { try connection.execute(statement) }
        try connection.run("INSERT INTO privyseal.version VALUES ($1)", .integer(version))
    }

    /// The number of the advisory lock: the letters `PSal`, so that another program is unlikely to use it.
    private static let lock = 0x5053_616c

    /// Nil without tables.
    static func version(in connection: Connection) throws(PostgreSQLError) -> Int? {
        var exists = false
        try connection.visit("SELECT 1::bigint WHERE to_regclass('privyseal.version') IS NOT NULL") { _ in
            exists = true
            return true
        }
        guard exists else { return nil }
        var version = 0
        try connection.visit("SELECT number FROM privyseal.version") {
            version = $0.integer(0)
            return false
        }
        return version
    }

    /// A sentence for each table, column, trigger or function that is missing, unknown or modified.
    static func differences(in connection: Connection) throws(PostgreSQLError) -> [String] {
        var found: [String: String] = [:]
        func read(_ kind: String, _ sql: String) throws(PostgreSQLError) {
            try connection.visit(sql) {
                found["\(kind) '\($0.text(0))'"] = $0.text(1)
                return true
            }
        }
        try read(
            "table",
            """
            SELECT c.relname::text, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                || CASE WHEN a.attnotnull THEN '' ELSE ' NULL' END, ', ' ORDER BY a.attnum)
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'privyseal'::regnamespace AND c.relkind NOT IN ('i', 'S') GROUP BY c.relname
            """)
        try read(
            "trigger",
            """
            SELECT t.tgname::text, concat_ws(' ', c.relname, p.proname, t.tgtype, t.tgenabled)
            FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
            WHERE c.relnamespace = 'privyseal'::regnamespace AND NOT t.tgisinternal
            """)
        try read(
            "function",
            "SELECT proname::text, prosrc FROM pg_proc WHERE pronamespace = 'privyseal'::regnamespace")
        try read(
            "rule",
            """
            SELECT r.rulename::text, c.relname::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
            WHERE c.relnamespace = 'privyseal'::regnamespace
            """)
        return compare(found)
    }

    private static func compare(_ found: [String: String]) -> [String] {
        var expected: [String: String] = [:]
        for table in tables {
            expected["table '\(table.name)'"] = table.columns.map { column in
                let words = column.split(separator: " ")
                return words.prefix(2).joined(separator: " ") + (column.hasSuffix(" NULL") ? " NULL" : "")
            }.joined(separator: ", ")
        }
        for trigger in triggers {
            let function = trigger.function.prefix { $0 != "(" }
            expected["trigger '\(trigger.name)'"] = "\(trigger.table) \(function) \(trigger.kind) O"
        }
        for function in functions {
            let name = function.split(separator: "privyseal.")[1].prefix { $0 != "(" }
            expected["function '\(name)'"] = String(function.split(separator: "$$")[1])
        }
        let changed = expected.keys.sorted().filter { found[$0] != expected[$0] }.map {
            found[$0] == nil
                ? "The \($0) is missing." : "The \($0) does not have its original definition: it was changed."
        }
        return changed
            + found.keys.sorted().filter { expected[$0] == nil }.map { "The \($0) does not belong in an audit log." }
    }
}

extension LogSchema.Trigger {
    /// `pg_trigger.tgtype`: bits for row, before, delete, update and truncate (src/include/catalog/pg_trigger.h).
    fileprivate var kind: Int {
        let bits = [("DELETE", 8), ("UPDATE", 16), ("TRUNCATE", 32)]
        return 2 + (event == "TRUNCATE" ? 0 : 1) + (bits.first { event.hasPrefix($0.0) }?.1 ?? 0)
    }
}
