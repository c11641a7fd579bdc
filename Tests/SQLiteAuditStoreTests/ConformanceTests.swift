import AuditKit
import AuditKitTesting
import SQLiteAuditStore
import Testing

@Suite("The contract of audit stores, with SQLite")
struct ConformanceTests {
    @Test("A log in SQLite", arguments: AuditStoreConformance.checks)
    func keepsTheContract(_ check: AuditStoreConformance.Check) throws {
        let log = try TestLog()
        try check.run(
            AuditStoreConformance(
                SQLiteAuditStore.self, location: AuditLocation(log.path), identity: TestLog.identity))
    }
}
