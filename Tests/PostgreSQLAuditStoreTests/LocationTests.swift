import AuditKit
import AuditKitTesting
import PostgreSQLTesting
import Testing

@testable import PostgreSQLAuditStore

@Suite("Locations of logs in PostgreSQL")
struct LocationTests {
    @Test(
        "A URL that is not a database, holds a password, or does not verify another machine is refused",
        arguments: [
            ("/var/lib/audit.db", "not the URL"), ("postgres://db/privyseal", "not the URL"),
            ("postgresql://db/privyseal?nosuch=1", "not the URL"), ("postgresql://[::1/x", "not the URL"),
            ("postgresql://u:secret@localhost/x", "holds a password"),
            ("postgresql://localhost/x?password=secret", "holds a password"),
            ("postgresql://localhost/x?passfile=/tmp/x", "names a file"),
            ("postgresql://db.example.com/x?sslmode=require", "verify-full"),
            ("postgresql://localhost,db.example.com/x?sslmode=prefer", "verify-full"),
            ("postgresql:///x?hostaddr=192.0.2.1&sslmode=disable", "verify-full"),
            ("postgresql:///x?service=prod&sslmode=prefer", "verify-full"),
            ("postgresql://127.0.0.1.example.com/x?sslmode=prefer", "verify-full"),
        ])
    func refuses(_ url: String, _ reason: String) {
        do throws(AuditStoreError) {
            _ = try DatabaseLocation(AuditLocation(url))
            Issue.record("\(url) was accepted")
        } catch {
            #expect(ErrorKind(error) == .unfit)
            #expect(error.description.contains(reason), "\(error)")
            #expect(!error.description.contains("secret"))
        }
    }

    @Test("Sockets and addresses of this machine need no certificate, and another machine gets verify-full")
    func accepts() throws {
        for url in [
            "postgresql:///x?host=/run/postgresql", "postgresql://127.0.0.1,localhost/x", "postgresql://[::1]/x",
        ] {
            _ = try DatabaseLocation(AuditLocation(url))
        }
        // Nothing listens there: libpq reports the missing certificate before it connects.
        let location = try DatabaseLocation(
            AuditLocation("postgresql://192.0.2.1/x?sslrootcert=/none&connect_timeout=2"))
        do throws(AuditStoreError) {
            _ = try location.connect(for: .readOnly)
            Issue.record("connected")
        } catch {
            #expect(ErrorKind(error) == .failed)
        }
    }

    @Test("A missing database, a missing log and one of several logs are told apart")
    func missing() throws {
        let server = try PostgreSQLServer.shared.get()
        expect(.failed) { () throws(AuditStoreError) in
            try PostgreSQLAuditStore.exists(at: TestDatabase.location(server.url(of: "no_such_database")))
        }
        let empty = TestDatabase.location(try server.makeDatabase())
        #expect(try !PostgreSQLAuditStore.exists(at: empty))
        expect(.missing) { () throws(AuditStoreError) in try PostgreSQLAuditStore.read(at: empty) }
        expect(.missing) { () throws(AuditStoreError) in
            try PostgreSQLAuditStore.open(at: empty, as: .gateway, timeout: .zero)
        }
        let database = try TestDatabase()
        var other = database.location
        other.origin = "example.com/none"
        #expect(try !PostgreSQLAuditStore.exists(at: other))
        try PostgreSQLAuditStore.create(at: other, identity: AuditIdentity(origin: "example.com/second"))
        do throws(AuditStoreError) {
            _ = try PostgreSQLAuditStore.read(at: database.location)
            Issue.record("one of two logs was chosen")
        } catch {
            #expect(error.description.contains("example.com/privyseal/test, example.com/second"))
        }
    }

    @Test("A user without rights gets an error that names them")
    func rights() throws {
        let server = try PostgreSQLServer.shared.get()
        let url = try server.makeDatabase()
        let name = url.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        try server.execute("CREATE ROLE reader_\(name) LOGIN", in: name)
        let reader = TestDatabase.location(server.url(of: name, user: "reader_\(name)"))
        expect(.unfit) { () throws(AuditStoreError) in
            try PostgreSQLAuditStore.create(at: reader, identity: TestDatabase.identity)
        }
        try PostgreSQLAuditStore.create(at: TestDatabase.location(url), identity: TestDatabase.identity)
        try server.execute(
            "GRANT USAGE ON SCHEMA privyseal TO reader_\(name); GRANT SELECT ON ALL TABLES IN SCHEMA privyseal TO reader_\(name)",
            in: name)
        #expect(try PostgreSQLAuditStore.read(at: reader).head() == nil)
        expect(.readOnly) { () throws(AuditStoreError) in
            try PostgreSQLAuditStore.open(at: reader, as: .gateway, timeout: .zero).append("a")
        }
    }
}
