import AuditKit
import AuditKitTesting
import PostgreSQL
import PostgreSQLTesting

@testable import PostgreSQLAuditStore

/// A database of its own, with an empty log.
struct TestDatabase {
    static let identity = AuditIdentity(origin: "example.com/privyseal/test")

    let server: PostgreSQLServer
    let location: AuditLocation

    init(on server: PostgreSQLServer? = nil) throws {
        self.server = try server ?? PostgreSQLServer.shared.get()
        location = Self.location(try self.server.makeDatabase())
        try PostgreSQLAuditStore.create(at: location, identity: Self.identity)
    }

    /// The test server has no standby.
    static func location(_ url: String, durability: AuditDurability = .oneServer) -> AuditLocation {
        var location = AuditLocation(url)
        location.durability = durability
        return location
    }

    func open(as role: AuditRole = .gateway, timeout: Duration = .milliseconds(200)) throws -> PostgreSQLAuditStore {
        try PostgreSQLAuditStore.open(at: location, as: role, timeout: timeout)
    }

    func read() throws -> any AuditReader { try PostgreSQLAuditStore.read(at: location) }

    /// Runs raw SQL, as an administrator would.
    func execute(_ statements: String...) throws {
        let connection = try connect()
        for statement in statements { try connection.execute(statement) }
    }

    func connect() throws -> Connection { try Connection([("dbname", location.text)], timeout: .seconds(5)) }

    /// Ends the connections of the store.
    func terminateConnections() throws {
        try execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }
}
