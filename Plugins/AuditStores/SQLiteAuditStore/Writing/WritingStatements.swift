import AuditKit
import SQLite

/// Prepared once, because every signature waits for an insertion.
final class WritingStatements {
    let beginTransaction: Statement
    let commit: Statement
    let entry: Statement
    let segment: Statement
    let head: Statement
    let checkpoint: Statement
    let register: Statement
    let begin: Statement
    let drop: Statement

    init(on connection: Connection) throws(SQLiteError) {
        beginTransaction = try Statement("BEGIN IMMEDIATE", on: connection)
        commit = try Statement("COMMIT", on: connection)
        entry = try Statement("INSERT INTO entry VALUES (?, ?, ?)", on: connection)
        segment = try Statement("INSERT INTO segment VALUES (?, ?)", on: connection)
        head = try Statement(
            """
            INSERT INTO head VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note
            """, on: connection)
        checkpoint = try Statement(
            "INSERT INTO checkpoint VALUES (?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note",
            on: connection)
        register = try Statement(
            """
            INSERT INTO register VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, entry = excluded.entry
            """, on: connection)
        begin = try Statement("UPDATE log SET first_segment = ?", on: connection)
        drop = try Statement(
            "DELETE FROM entry WHERE idx < (SELECT first_segment FROM log) * \(AuditSegment.size)", on: connection)
    }
}
