import AuditKit
import AuditKitTesting
import PostgreSQL
import Testing

@testable import PostgreSQLAuditStore

@Suite("One writer for each log")
struct FencingTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test("A second gateway takes over with its first transaction, and the first one never writes again")
    func fences() throws {
        let first = try database.open()
        try first.append("a")
        let second = try database.open()
        try first.append("b")
        try second.append("c")
        expect(.fenced) { () throws(AuditStoreError) in try first.append("d") }
        expect(.fenced) { () throws(AuditStoreError) in try first.maintain() }
        try second.append("e")
        try second.maintain()
        // Its next connection is fenced, too.
        try database.terminateConnections()
        expect(.fenced) { () throws(AuditStoreError) in try first.append("d") }
        _ = try? second.append("f")
        #expect(try database.read().bodies().prefix(4) == ["a", "b", "c", "e"])
        #expect(try !database.read().bodies().contains("d"))
    }

    @Test("A gateway whose first transaction fails does not take over")
    func failedTakeover() throws {
        let first = try database.open()
        try first.append("a")
        let second = try database.open()
        expect(.damaged) { () throws(AuditStoreError) in
            try second.write { (_) throws(AuditStoreError) in throw .damaged("It refuses the log.") }
        }
        try first.append("b")
    }

    @Test("A fenced gateway does not lock the log any more")
    func fencedWithoutLock() throws {
        let first = try database.open()
        try first.append("a")
        let second = try database.open()
        try second.append("b")
        expect(.fenced) { () throws(AuditStoreError) in try first.append("c") }
        try second.write { (_) throws(AuditStoreError) in
            // It would be busy, if it asked the server.
            expect(.fenced) { () throws(AuditStoreError) in try first.append("c") }
        }
    }

    @Test("An older copy of the database is not mistaken for another gateway")
    func olderCopy() throws {
        let store = try database.open()
        try store.append("a")
        try database.execute("SET session_replication_role = replica", "UPDATE privyseal.log SET epoch = 0")
        expect(.replaced) { () throws(AuditStoreError) in try store.append("b") }
    }

    @Test("A command does not fence the gateway")
    func commands() throws {
        let gateway = try database.open()
        try gateway.append("a")
        try database.open(as: .command).append("b")
        try gateway.append("c")
        try gateway.maintain()
        #expect(try database.read().bodies() == ["a", "b", "c"])
    }

    @Test("A gateway that takes over during a transaction waits for it")
    func waits() throws {
        let first = try database.open()
        let second = try database.open(timeout: .milliseconds(50))
        try first.write { (transaction) throws(AuditStoreError) in
            expect(.busy) { () throws(AuditStoreError) in try second.append("no") }
            try transaction.append(StoredEntry(index: 0, body: [97], mark: 0))
            try transaction.setHead(SignedTreeHead(size: 1, note: "one"))
        }
        try first.append("b")
        #expect(try database.read().bodies() == ["a", "b"])
    }

    @Test("A head that another program changed during the transaction is not overwritten")
    func changedHead() throws {
        let store = try database.open()
        try store.append("a")
        // The row is locked for others, so the transaction itself changes it.
        expect(.fenced) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [98], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
                guard let open = try (transaction as? LogTransaction)?.database() else { throw .closed }
                try open.run("UPDATE privyseal.log SET epoch = epoch + 1 WHERE id = $1", .integer(open.log))
            }
        }
        #expect(try database.read().bodies() == ["a"])
    }
}
