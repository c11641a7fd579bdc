import AuditKit
import AuditKitTesting
import SigningKit
import Synchronization
import Testing

@testable import PostgreSQLAuditStore

@Suite("The leases of the gateways of a fleet")
struct FleetMembershipTests {
    static let fleet = "example.com/privyseal/fleet"

    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        try PostgreSQLAuditStore.create(at: database.location, identity: AuditIdentity(origin: Self.fleet))
    }

    /// A gateway that has written to its log; it makes the log if there is none.
    private func gateway(_ name: String) throws -> (store: PostgreSQLAuditStore, membership: any FleetMembership) {
        var location = database.location
        location.origin = "example.com/privyseal/\(name)"
        let identity = AuditIdentity(origin: location.origin ?? "")
        if try !PostgreSQLAuditStore.exists(at: location) {
            try PostgreSQLAuditStore.create(at: location, identity: identity)
        }
        let store = try PostgreSQLAuditStore.open(at: location, as: .gateway, timeout: .milliseconds(200))
        try store.append("a")
        return (store, try store.membership(in: Self.fleet))
    }

    @Test("Each gateway sees what the others report")
    func reports() throws {
        let (first, second) = (try gateway("shop-1"), try gateway("shop-2"))
        _ = try first.membership.renew(FleetReport(applied: 3, answer: "yes"))
        let view = try second.membership.renew(FleetReport(applied: 5))
        #expect(view.members.map(\.origin) == ["example.com/privyseal/shop-1", "example.com/privyseal/shop-2"])
        #expect(view.members.map(\.report) == [FleetReport(applied: 3, answer: "yes"), FleetReport(applied: 5)])
        #expect(view.members.allSatisfy { !$0.isGone && view.time.milliseconds - $0.renewed.milliseconds < 60_000 })
    }

    @Test("A gateway that another process has replaced cannot renew its lease, and cannot take it back")
    func replaced() throws {
        let first = try gateway("shop-1")
        _ = try first.membership.renew(FleetReport(applied: 1))
        let second = try gateway("shop-1")
        expect(.fenced) { () throws(AuditStoreError) in _ = try first.membership.renew(FleetReport(applied: 2)) }
        let view = try second.membership.renew(FleetReport(applied: 7))
        expect(.fenced) { () throws(AuditStoreError) in _ = try first.membership.renew(FleetReport(applied: 3)) }
        #expect(view.members.map(\.report.applied) == [7])
    }

    @Test("A fenced gateway writes nothing, and a new process joins again")
    func fences() throws {
        let (first, second) = (try gateway("shop-1"), try gateway("shop-2"))
        _ = try first.membership.renew(FleetReport(applied: 1))
        let epoch = try #require(try second.membership.renew(FleetReport(applied: 1)).members.first?.epoch)
        try second.membership.fence("example.com/privyseal/shop-1", epoch: epoch)
        // It has happened already.
        try second.membership.fence("example.com/privyseal/shop-1", epoch: epoch)
        expect(.fenced) { () throws(AuditStoreError) in try first.store.append("b") }
        expect(.fenced) { () throws(AuditStoreError) in _ = try first.membership.renew(FleetReport(applied: 2)) }
        #expect(try second.membership.renew(FleetReport(applied: 2)).members.map(\.isGone) == [true, false])
        let again = try gateway("shop-1")
        #expect(try again.membership.renew(FleetReport(applied: 2)).members.map(\.isGone) == [false, false])
    }

    @Test("A gateway that leaves is not waited for")
    func leaves() throws {
        let (first, second) = (try gateway("shop-1"), try gateway("shop-2"))
        _ = try first.membership.renew(FleetReport(applied: 1))
        try first.membership.leave()
        #expect(try second.membership.renew(FleetReport(applied: 1)).members.map(\.isGone) == [true, false])
    }

    @Test("The lease survives a lost connection")
    func reconnects() throws {
        let first = try gateway("shop-1")
        _ = try first.membership.renew(FleetReport(applied: 1))
        try database.terminateConnections()
        _ = try? first.membership.renew(FleetReport(applied: 2))
        #expect(try first.membership.renew(FleetReport(applied: 2)).members.map(\.report.applied) == [2])
    }

    @Test("Changes of a shared value by several gateways at the same time are not lost")
    func sharedValues() async throws {
        let memberships = try [gateway("shop-1"), gateway("shop-2"), gateway("shop-3")].map(\.membership)
        try await withThrowingTaskGroup { group in
            for membership in memberships {
                group.addTask {
                    for _ in 0..<20 {
                        try membership.update("count") { old, _ in [(old?.first ?? 0) + 1] }
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = Mutex<[UInt8]?>(nil)
        try memberships[0].update("count") { old, _ in
            found.withLock { $0 = old }
            return old ?? []
        }
        #expect(found.withLock { $0 } == [60])
    }

    @Test("A command is no member of a fleet")
    func commands() throws {
        var location = database.location
        location.origin = Self.fleet
        let store = try PostgreSQLAuditStore.open(at: location, as: .command, timeout: .milliseconds(200))
        expect(.unfit) { () throws(AuditStoreError) in _ = try store.membership(in: Self.fleet) }
    }
}
