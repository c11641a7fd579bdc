import AuditKit
import AuditLog
import GatewayConfiguration
import KeyDrills
import KeyLifecycle
import Signing

/// The results of drills in the log of the fleet.
enum FleetDrills {
    /// Does nothing for a gateway that belongs to no fleet.
    ///
    /// - Parameter digest: see `DrillArchive.digest`.
    static func record(_ record: DrillRecord, digest: String, in configuration: GatewayConfiguration) async throws {
        guard let audit = configuration.fleetLog, let own = configuration.audit?.location.origin else { return }
        let log = try AuditComposition(audit, of: configuration, isShared: true).open(isServing: false)
        let drill = FleetDrill(record, digest: digest, of: own)
        try await finally(log.close) { try await drill.record(in: log, by: Client.operator.name) }
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
    /// - Parameter gateway: the origin of its log.
    init(_ record: DrillRecord, digest: String, of gateway: String) {
        self.init(
            id: record.id, scenario: record.scenario.rawValue, verdict: record.verdict.rawValue, begun: record.begun,
            ended: record.ended, isTemporary: record.gateway.isTemporary, served: record.load.served,
            failed: record.load.failed, wronglySigned: record.load.wronglySigned, deviations: record.deviations.count,
            digest: digest, gateway: gateway)
    }
}
