import AuditKit
import AuditLog
import ComplianceReport
import GatewayConfiguration
import KeyDrills
import KeyLifecycle
import Signing

/// The results of drills in the log of the fleet.
enum FleetDrills {
    /// Does nothing for a gateway that belongs to no fleet.
    ///
    /// - Parameter digest: SHA-256 of the record's file, in Base64url.
    /// - Throws: also if the log of this gateway has no entry about the drill: then nothing would prove the result.
    static func record(_ record: DrillRecord, digest: String, in configuration: GatewayConfiguration) async throws {
        guard let fleetLog = configuration.fleetLog, let audit = configuration.audit, let own = audit.origin else {
            return
        }
        guard let entry = try entry(of: record.id, digest, in: audit) else {
            throw CommandError(
                "The log of this gateway has no entry about the drill \(record.id) with this record, so nothing proves it. "
                    + "Repeat the drill with --config.")
        }
        let log = try AuditComposition(fleetLog, of: configuration, isShared: true).open(isServing: false)
        let drill = FleetDrill(record, digest: digest, entry: entry, of: own)
        try await finally(log.close) { try await drill.record(in: log, by: Client.operator.name) }
    }

    private static func entry(
        of id: String, _ digest: String, in audit: GatewayConfiguration.Audit
    ) throws -> Int? {
        let reader = try audit.location.read()
        defer { reader.close() }
        var query = AuditQuery()
        query.terms[.kind] = "report"
        var found: Int?
        try reader.search(query) { entry in
            guard let drill = LoggedDrill(entry.body, at: entry.index), drill.id == id, drill.digest == digest else {
                return true
            }
            found = entry.index
            return false
        }
        return found
    }

    /// The results of all gateways; empty for a gateway that belongs to no fleet.
    static func results(_ configuration: GatewayConfiguration) throws -> [FleetDrill] {
        guard let location = configuration.fleetLog?.location, try location.store.exists(at: location) else {
            return []
        }
        let reader = try location.read()
        defer { reader.close() }
        return try FleetDrill.results(in: try reader.registers())?.drills ?? []
    }
}

extension FleetDrill {
    /// - Parameters:
    ///   - entry: the index of the entry in the log of the gateway; -1 for a drill that is not shared.
    ///   - gateway: the origin of its log; empty for a drill that is not shared.
    init(_ record: DrillRecord, digest: String, entry: Int = -1, of gateway: String = "") {
        self.init(
            id: record.id, scenario: record.scenario.rawValue, verdict: record.verdict.rawValue, begun: record.begun,
            ended: record.ended, isTemporary: record.gateway.isTemporary, served: record.load.served,
            failed: record.load.failed, wronglySigned: record.load.wronglySigned, deviations: record.deviations.count,
            digest: digest, entry: entry, gateway: gateway)
    }
}
