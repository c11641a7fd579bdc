import AuditKit
import AuditKitTesting
import PostgreSQLAuditStore
import Testing

@Suite("The contract of audit stores, with PostgreSQL")
struct ConformanceTests {
    @Test("A log in PostgreSQL", arguments: AuditStoreConformance.checks)
    func keepsTheContract(_ check: AuditStoreConformance.Check) throws {
        let database = try TestDatabase()
        try check.run(
            AuditStoreConformance(
                PostgreSQLAuditStore.self, location: database.location, identity: TestDatabase.identity))
    }

    @Test("A log in PostgreSQL beside the logs of other gateways", arguments: AuditStoreConformance.checks)
    func keepsTheContractBesideOthers(_ check: AuditStoreConformance.Check) throws {
        let database = try TestDatabase()
        let other = try database.open()
        try other.append("entry of another log")
        let identity = AuditIdentity(origin: "example.com/privyseal/other")
        var location = database.location
        try PostgreSQLAuditStore.create(at: location, identity: identity)
        location.origin = identity.origin
        try check.run(AuditStoreConformance(PostgreSQLAuditStore.self, location: location, identity: identity))
        #expect(try other.append("and its next one") == 2)
    }
}
