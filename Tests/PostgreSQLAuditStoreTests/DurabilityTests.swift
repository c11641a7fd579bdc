import AuditKit
import AuditKitTesting
import Foundation
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import PostgreSQLAuditStore

@Suite("Durability of commits in PostgreSQL", .serialized)
struct DurabilityTests {
    @Test("A server without a synchronous standby is refused unless the configuration accepts one server")
    func standby() throws {
        let database = try TestDatabase()
        let location = TestDatabase.location(database.location.text, durability: .replicated)
        do throws(AuditStoreError) {
            _ = try PostgreSQLAuditStore.open(at: location, as: .gateway, timeout: .zero)
            Issue.record("the server was accepted")
        } catch {
            #expect(ErrorKind(error) == .unfit)
            #expect(error.description.contains("audit.durability: oneServer"))
        }
        _ = try database.open()
    }

    @Test("Settings of the role and the database do not weaken commits")
    func ownSettings() throws {
        let database = try TestDatabase()
        let name = database.location.text.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        try database.server.execute("ALTER DATABASE \(name) SET synchronous_commit = off")
        try database.server.execute("ALTER DATABASE \(name) SET client_min_messages = error")
        let store = try database.open()
        try store.append("a")
        try store.write { (transaction) throws(AuditStoreError) in
            let open = try (transaction as? LogTransaction)?.database()
            for (name, value) in [("synchronous_commit", "on"), ("client_min_messages", "warning")] {
                #expect(try open?.all("SELECT current_setting('\(name)')") { $0.text(0) } == [value])
            }
        }
    }

    @Test("A server that does not synchronize its disk is refused")
    func fsync() throws {
        let server = try PostgreSQLServer(settings: ["fsync=off"])
        let url = try server.makeDatabase()
        try PostgreSQLAuditStore.create(at: TestDatabase.location(url), identity: TestDatabase.identity)
        do throws(AuditStoreError) {
            _ = try PostgreSQLAuditStore.open(at: TestDatabase.location(url), as: .gateway, timeout: .zero)
            Issue.record("the server was accepted")
        } catch {
            #expect(error.description.contains("fsync = off"))
        }
    }

    @Test("A standby that is configured away stops the writer, and it continues when the standby is back")
    func removedStandby() throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let location = TestDatabase.location(database.location.text, durability: .replicated)
        try Self.set("synchronous_standby_names", to: "'none'", on: server)
        let store = try PostgreSQLAuditStore.open(at: location, as: .command, timeout: .milliseconds(200))
        try Self.set("synchronous_standby_names", to: "''", on: server)
        expect(.failed) { () throws(AuditStoreError) in try store.append("a") }
        #expect(try database.read().bodies() == [])
    }

    /// `pg_cancel_backend` ends the wait for the standby, and the server reports success with a warning.
    @Test("A commit whose wait for the standby was cancelled does not count as durable")
    func cancelledWait() async throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let location = TestDatabase.location(database.location.text, durability: .replicated)
        try Self.set("synchronous_standby_names", to: "'none'", on: server)
        let store = try PostgreSQLAuditStore.open(at: location, as: .command, timeout: .milliseconds(200))
        let canceller = Thread {
            while (try? server.execute(
                """
                DO $$ BEGIN
                    ASSERT (SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep');
                END $$
                """)) == nil
            {
                usleep(20_000)
            }
        }
        canceller.start()
        do throws(AuditStoreError) {
            try store.append("a")
            Issue.record("the commit counted as durable")
        } catch {
            #expect(error.description.contains("may not be on the standby"), "\(error)")
        }
        // It is on this server, so the next transaction sees it.
        #expect(try database.read().bodies() == ["a"])
    }

    private static func set(_ name: String, to value: String, on server: PostgreSQLServer) throws {
        try server.execute("ALTER SYSTEM SET \(name) = \(value)")
        try server.execute("SELECT pg_reload_conf()")
        // The server applies it within moments; a new connection shows when.
        let shown = value.filter { $0 != "'" }
        for _ in 0..<200 {
            if (try? server.execute("DO $$ BEGIN ASSERT current_setting('\(name)') = '\(shown)'; END $$")) != nil {
                return
            }
            usleep(20_000)
        }
        throw PostgreSQLTestError("\(name) was not applied")
    }
}
