import AuditKit
import AuditKitTesting
import Foundation
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import PostgreSQLAuditStore

@Suite("Failures of PostgreSQL")
struct FailureTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test("A lost connection fails one write, and the next one uses a new connection")
    func lostConnection() throws {
        let store = try database.open()
        try store.append("a")
        try database.terminateConnections()
        expect(.failed) { () throws(AuditStoreError) in try store.append("b") }
        try store.append("c")
        #expect(try database.read().bodies() == ["a", "c"])
    }

    @Test("A connection that is lost within a transaction leaves nothing behind")
    func lostWithin() throws {
        let store = try database.open()
        try store.append("a")
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [98], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
                _ = try transaction.entry(at: 1)
                try? database.terminateConnections()
            }
        }
        try store.append("c")
        #expect(try database.read().bodies() == ["a", "c"])
    }

    @Test("A stopped server fails writes until it is back, and nothing that was written is lost")
    func restart() throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let store = try database.open()
        let reader = try database.read()
        try store.append("a")
        try server.stop()
        for _ in 0..<2 { expect(.failed) { () throws(AuditStoreError) in try store.append("b") } }
        expect(.failed) { () throws(AuditStoreError) in try store.maintain() }
        try server.start()
        try store.append("c")
        #expect(try database.read().bodies() == ["a", "c"])
        _ = try? reader.head()
        #expect(try reader.bodies() == ["a", "c"])
    }

    @Test("The store waits for another transaction up to its timeout")
    func busy() throws {
        let store = try database.open()
        try store.append("a")
        let other = try database.connect()
        try other.execute("BEGIN")
        try other.run("SELECT 1 FROM privyseal.log FOR UPDATE")
        expect(.busy) { () throws(AuditStoreError) in try store.append("b") }
        try other.execute("ROLLBACK")
        try store.append("c")
        #expect(try database.read().bodies() == ["a", "c"])
    }

    @Test("A server that does not answer loses the connection after the time limit")
    func silent() throws {
        let store = try database.open()
        try store.append("a")
        let connection = try database.connect()
        connection.timeout = .milliseconds(100)
        #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT pg_sleep(5)") }
        #expect(!connection.isUsable)
        #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1") }
    }

    @Test("Statements that go together all take effect, and their rows come in order")
    func together() throws {
        let connection = try database.connect()
        try connection.execute("CREATE TEMPORARY TABLE number (value bigint)")
        let insertions = [[1], [2, 3]].map {
            Statement("INSERT INTO number SELECT * FROM unnest($1::bigint[])", .integers($0))
        }
        #expect(try connection.visit(insertions) { _ in true } == [1, 2])
        var rows: [Int] = []
        let reads = [Statement("SELECT $1::bigint", .integer(0)), Statement("SELECT value FROM number ORDER BY value")]
        for _ in 0..<2 {
            rows = []
            #expect(
                try connection.visit(reads) {
                    rows.append($0.integer(0))
                    return true
                } == [1, 3])
            #expect(rows == [0, 1, 2, 3])
        }
    }

    @Test("After a statement that fails, the server skips those that go with it, and the connection stays usable")
    func failureTogether() throws {
        let connection = try database.connect()
        try connection.execute("CREATE TEMPORARY TABLE number (value bigint PRIMARY KEY)")
        let insertion = Statement("INSERT INTO number VALUES ($1)", .integer(1))
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.visit([insertion, insertion, Statement("INSERT INTO number VALUES (2)")]) { _ in true }
        }
        #expect(error?.code == "23505")
        #expect(connection.isUsable)
        var rows: [Int] = []
        try connection.visit("SELECT count(*) FROM number") {
            rows.append($0.integer(0))
            return true
        }
        #expect(rows == [0])
    }

    @Test("A server that is silent between statements that go together loses the connection")
    func silentTogether() throws {
        let connection = try database.connect()
        connection.timeout = .milliseconds(300)
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.visit([Statement("SELECT 1::bigint"), Statement("SELECT pg_sleep(5)::text")]) { _ in true }
        }
        #expect(error?.message.hasPrefix("The server did not answer within") == true)
        #expect(!connection.isUsable)
    }

    @Test("A result that does not end loses the connection after the time limit")
    func endlessResult() throws {
        let connection = try database.connect()
        connection.timeout = .milliseconds(300)
        connection.longestResult = .max
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT 1 FROM generate_series(1, 1000000000)")
        }
        #expect(error?.message.hasPrefix("The server did not answer within") == true)
        #expect(!connection.isUsable)
    }

    @Test("A second result of one statement loses the connection")
    func secondResult() throws {
        let connection = try database.connect()
        #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1 WHERE false; SELECT 2 WHERE false") }
        #expect(!connection.isUsable)
    }

    @Test("A statement whose preparation failed can be followed by others")
    func failedPreparation() throws {
        let connection = try database.connect()
        #expect(throws: PostgreSQLError.self) { try connection.run("SELECT * FROM nowhere") }
        #expect(connection.isUsable)
        #expect(try connection.run("SELECT 1 WHERE true") == 1)
    }

    @Test("A result over the limit loses the connection instead of the memory")
    func longResult() throws {
        let connection = try database.connect()
        connection.longestResult = 10_000
        #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)")
        }
        #expect(!connection.isUsable)
    }

    @Test("An entry beyond the head is reported as damage and not overwritten")
    func strayEntry() throws {
        let store = try database.open()
        try store.append("a")
        try database.execute("INSERT INTO privyseal.entry SELECT id, 1, 0, 'x' FROM privyseal.log")
        expect(.damaged) { () throws(AuditStoreError) in try store.append("b") }
        #expect(try database.read().bodies() == ["a", "x"])
    }

    @Test(
        "A row that a new trigger drops silently fails the write",
        arguments: ["entry", "register"])
    func silentTrigger(_ table: String) throws {
        let store = try database.open()
        try store.append("a")
        try database.execute(
            "CREATE FUNCTION public.drop_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            "CREATE TRIGGER silent BEFORE INSERT ON privyseal.\(table) FOR EACH ROW EXECUTE FUNCTION public.drop_row()")
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [98], mark: 0))
                try transaction.register(AuditRegister(name: "state", value: [1], entry: 1))
                try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
            }
        }
        try database.execute("DROP TRIGGER silent ON privyseal.\(table)")
        try store.append("b")
        #expect(try database.read().bodies() == ["a", "b"])
    }

    @Test("A removed table is reported as damage")
    func removedTable() throws {
        let store = try database.open()
        try database.execute("DROP TABLE privyseal.entry")
        expect(.damaged) { () throws(AuditStoreError) in try store.append("b") }
        #expect(try !database.read().inspect().isEmpty)
    }

    @Test(
        "Triggers refuse to change the past",
        arguments: [
            "UPDATE privyseal.entry SET body = 'x'", "DELETE FROM privyseal.entry", "TRUNCATE privyseal.entry",
            "UPDATE privyseal.log SET size = 0", "UPDATE privyseal.log SET epoch = 0", "DELETE FROM privyseal.log",
            "UPDATE privyseal.log SET origin = 'x'", "UPDATE privyseal.log SET first_segment = 2",
            "UPDATE privyseal.segment SET root = 'x'", "DELETE FROM privyseal.segment",
            "UPDATE privyseal.checkpoint SET size = 0", "DELETE FROM privyseal.checkpoint",
            "UPDATE privyseal.register SET entry = 0", "DELETE FROM privyseal.register", "TRUNCATE privyseal.log",
        ])
    func triggers(_ statement: String) throws {
        let store = try database.open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size))
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.keep(SignedTreeHead(size: 9, note: "kept"))
            try transaction.register(AuditRegister(name: "r", value: [1], entry: 5))
        }
        #expect(throws: PostgreSQLError.self) { try database.execute(statement) }
        #expect(try database.read().bodies().count == AuditSegment.size)
    }

    @Test(
        "inspect finds changes to the store itself, and a log with one is not opened for writing",
        arguments: [
            "DROP TRIGGER entry_stays ON privyseal.entry", "ALTER TABLE privyseal.entry DISABLE TRIGGER entry_stays",
            "CREATE OR REPLACE FUNCTION privyseal.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
            "ALTER TABLE privyseal.entry ADD COLUMN a bigint", "CREATE TABLE privyseal.mine (a bigint)",
            "CREATE VIEW privyseal.mine AS SELECT 1 AS a",
            "CREATE RULE mine AS ON INSERT TO privyseal.segment DO ALSO NOTHING",
            "ALTER TABLE privyseal.log ALTER COLUMN note DROP NOT NULL",
        ])
    func inspection(_ statement: String) throws {
        #expect(try database.read().inspect() == [])
        try database.execute(statement)
        let sentences = try database.read().inspect()
        #expect(!sentences.isEmpty)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
        expect(.damaged) { () throws(AuditStoreError) in
            try PostgreSQLAuditStore.open(at: database.location, as: .gateway, timeout: .zero)
        }
    }

    @Test("Gateways that create the tables at the same time all succeed")
    func concurrentCreation() async throws {
        let location = TestDatabase.location(try PostgreSQLServer.shared.get().makeDatabase())
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    try PostgreSQLAuditStore.create(
                        at: location, identity: AuditIdentity(origin: "example.com/\(number)"))
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<4 {
            var one = location
            one.origin = "example.com/\(number)"
            #expect(try PostgreSQLAuditStore.exists(at: one))
        }
    }
}
