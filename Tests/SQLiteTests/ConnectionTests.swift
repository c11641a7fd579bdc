import Foundation
import Testing

@testable import SQLite

@Suite("SQLite connections")
struct ConnectionTests {
    private func inMemory() throws -> Connection {
        let connection = try Connection(path: ":memory:", access: .create)
        try connection.execute("CREATE TABLE thing (number INTEGER, body BLOB, name TEXT) STRICT")
        return connection
    }

    @Test("Bound values are read back unchanged")
    func values() throws {
        let connection = try inMemory()
        let rows: [(Int, [UInt8], String)] = [
            (0, [], ""), (.max, [0, 255, 0], "a\u{0}b"), (.min, [1], "Größe 🦭"),
        ]
        for (number, body, name) in rows {
            try connection.run("INSERT INTO thing VALUES (?, ?, ?)", .integer(number), .blob(body), .text(name))
        }
        let found = try connection.all("SELECT number, body, name FROM thing") { row in
            (row.integer(0), row.bytes(1), row.text(2))
        }
        let counts = try connection.all("SELECT body, name FROM thing") { $0.byteCount }
        #expect(counts == rows.map { $0.1.count + $0.2.utf8.count })
        #expect(found.map(\.0) == rows.map(\.0))
        #expect(found.map(\.1) == rows.map(\.1))
        #expect(found.map(\.2) == rows.map(\.2))
    }

    @Test("An empty blob is not NULL, and an unbound column is NULL")
    func empty() throws {
        let connection = try inMemory()
        try connection.run("INSERT INTO thing (body, name) VALUES (?, ?)", .blob([]), .null)
        let isNull = try connection.first("SELECT body, number, name FROM thing") { row in
            [row.isNull(0), row.isNull(1), row.isNull(2)]
        }
        #expect(isNull == [false, true, true])
    }

    @Test("A statement works again after it failed")
    func again() throws {
        let connection = try inMemory()
        try connection.execute("CREATE UNIQUE INDEX once ON thing (number)")
        let insert = "INSERT INTO thing (number) VALUES (?)"
        try connection.run(insert, .integer(1))
        #expect(throws: SQLiteError.self) { try connection.run(insert, .integer(1)) }
        try connection.run(insert, .integer(2))
        #expect(try connection.number("page_count") != nil)
        #expect(try connection.first("SELECT count(*) FROM thing") { $0.integer(0) } == 2)
    }

    @Test("An error names the extended code and no value")
    func errors() throws {
        let connection = try inMemory()
        try connection.execute("CREATE UNIQUE INDEX once ON thing (name)")
        let insert = "INSERT INTO thing (name) VALUES (?)"
        try connection.run(insert, .text("secret"))
        let error = #expect(throws: SQLiteError.self) { try connection.run(insert, .text("secret")) }
        #expect(error?.code.description == "SQLITE_CONSTRAINT_UNIQUE")
        #expect(error?.code.primary == .constraint)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("A result code without a name shows its primary code")
    func names() {
        #expect(ResultCode(rawValue: 10 | 4 << 8).description == "SQLITE_IOERR_FSYNC")
        #expect(ResultCode(rawValue: 10 | 99 << 8).description == "SQLITE_IOERR (25354)")
        #expect(ResultCode(rawValue: 77).description == "SQLITE 77")
    }

    @Test("Opening a missing file does not create it")
    func missing() throws {
        let path = FileManager.default.temporaryDirectory.path() + UUID().uuidString
        for access in [Connection.Access.readWrite, .readOnly, .immutable] {
            let error = #expect(throws: SQLiteError.self) { try Connection(path: path, access: access) }
            #expect(error?.code.primary == .cannotOpen)
            #expect(error?.systemError == ENOENT)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A path may contain characters with a meaning in a URI")
    func escaping() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path() + "/a b%3f?mode=rw#ü.db"
        try Connection(path: path, access: .create).execute("CREATE TABLE here (a)")
        let copy = try Connection(path: path, access: .immutable)
        #expect(try copy.first("SELECT name FROM sqlite_schema") { $0.text(0) } == "here")
    }

    @Test("The connection counts the pages of the write-ahead log at each commit")
    func log() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let connection = try Connection(path: directory.path() + "/a.db", access: .create)
        #expect(try connection.pragma("journal_mode = WAL") == "wal")
        connection.countLogPages()
        try connection.execute("CREATE TABLE thing (a)")
        #expect(connection.logPages > 0)
        #expect(try connection.passiveCheckpoint() == connection.logPages)
        #expect(!connection.hasMoved)
        try FileManager.default.moveItem(atPath: connection.path, toPath: connection.path + ".moved")
        #expect(connection.hasMoved)
    }
}
