import AuditKit
import AuditKitTesting
import PostgreSQL
import Testing

@testable import PostgreSQLAuditStore

@Suite("One writer for each log")
struct FencingTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test("A second gateway takes over, and the first one never writes again")
    func fences() throws {
        let first = try database.open()
        try first.append("a")
        let second = try database.open()
        expect(.fenced) { () throws(AuditStoreError) in try first.append("b") }
        expect(.fenced) { () throws(AuditStoreError) in try first.maintain() }
        try second.append("c")
        // Its next connection is fenced, too.
        try database.terminateConnections()
        _ = try? first.append("d")
        expect(.fenced) { () throws(AuditStoreError) in try first.append("d") }
        _ = try? second.append("e")
        #expect(try database.read().bodies().filter { "bd".contains($0) } == [])
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
        try first.write { (transaction) throws(AuditStoreError) in
            expect(.busy) { () throws(AuditStoreError) in
                try PostgreSQLAuditStore.open(at: database.location, as: .gateway, timeout: .milliseconds(50))
            }
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
