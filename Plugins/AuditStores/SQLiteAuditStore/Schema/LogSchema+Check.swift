import AuditKit
import SQLite

extension LogSchema {
    /// - Returns: the version.
    /// - Throws: `.unfit` unless the file is a log of a version that this program knows.
    @discardableResult
    static func checkKind(of connection: Connection, at path: String) throws(AuditStoreError) -> Int {
        let kind: (application: Int?, version: Int?)
        do {
            kind = (try connection.number("application_id"), try connection.number("user_version"))
        } catch {
            guard error.code.primary == .notADatabase else { throw AuditStoreError(error, at: path) }
            throw .unfit("\(path) is not an audit log: \(error).")
        }
        guard kind.application == applicationID else { throw .unfit("\(path) is a database, but not an audit log.") }
        guard let found = kind.version, [version, versionWithoutRegisters].contains(found) else {
            throw .unfit(
                "The audit log \(path) has version \(kind.version ?? 0) of the store; this program supports "
                    + "\(version).")
        }
        return found
    }

    /// Throws if another object replaces a table, or one of its columns is computed: to read such an object may never
    /// end. An additional column is harmless, and `differences` reports it.
    static func checkTables(of connection: Connection, at path: String) throws(AuditStoreError) {
        let found = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try connection.all("SELECT name, sql FROM sqlite_schema WHERE type <> 'trigger' AND type <> 'index'") {
                (name: $0.text(0), text: $0.text(1))
            }
        }
        for object in found {
            // SQLite ignores the case of names.
            let name = object.name.lowercased()
            guard let made = statements.first(where: { $0.hasPrefix("CREATE TABLE \(name) (") }) else {
                continue
            }
            let columns = made.dropLast(") STRICT".count)
            guard !object.text.hasPrefix(columns.last?.isNewline == true ? columns.dropLast() : columns) else {
                continue
            }
            throw .damaged(
                "The table '\(object.name)' of the audit log \(path) does not have its original definition: it was "
                    + "changed.")
        }
    }

    static func identity(in connection: Connection, at path: String) throws(AuditStoreError) -> AuditIdentity {
        let identity = try AuditStoreError.at(path) { () throws(SQLiteError) in
            try connection.first("SELECT origin, format FROM log") {
                AuditIdentity(origin: $0.text(0), formatVersion: $0.integer(1))
            }
        }
        guard let identity else { throw .damaged("The audit log \(path) does not state its identity.") }
        guard identity.formatVersion == AuditIdentity.currentFormat else {
            throw .unfit(
                "The entries of the audit log \(path) have format \(identity.formatVersion); this program supports "
                    + "\(AuditIdentity.currentFormat).")
        }
        return identity
    }

    /// A sentence for each table, trigger or index that is missing, unknown or modified.
    static func differences(in connection: Connection) throws(SQLiteError) -> [String] {
        let version = try connection.number("user_version") ?? version
        // SQLite stores the text of each statement. A new database in memory has the expected texts.
        let model = try Connection(path: ":memory:", access: .create)
        for statement in statements(of: version) { try model.execute(statement) }
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
