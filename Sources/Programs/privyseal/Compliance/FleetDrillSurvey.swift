import AuditKit
import ComplianceReport
import GatewayConfiguration
import KeyLifecycle

/// Reads the results of drills on the other gateways of a fleet. The verified log of the fleet proves them.
struct FleetDrillSurvey {
    let fleetLog: GatewayConfiguration.Audit
    /// The origin of the log of this gateway, whose drills have records here.
    let own: String

    /// Adds the results, or the reason why they do not count.
    func add(to evidence: inout DrillEvidence) {
        do { evidence.shared = try results() } catch {
            evidence.complaints.append("The drills of the other gateways of the fleet do not count: \(error)")
        }
    }

    private func results() throws -> [SharedDrill] {
        let reader = try fleetLog.location.read()
        defer { reader.close() }
        // Read the registers first, so that the verification covers them.
        guard let results = try FleetDrill.results(in: try reader.registers()) else { return [] }
        let file = try CheckpointCollection(fleetLog.checkpoints.file.path, isGiven: false)
        let verifiers = try AuditKeyFile(fleetLog.key.path).publicKeys()
        let report = try AuditVerifier(
            verifiers, policy: fleetLog.checkpoints.policy?.policy, externals: [file.checkpoints], faultLimit: 1
        ).verify(reader)
        if let fault = report.faults.first { throw CommandError("The log of the fleet is not intact. \(fault)") }
        return results.drills.filter { $0.gateway != own }.map { drill in
            SharedDrill(
                id: drill.id, ended: drill.ended, isPassed: drill.verdict == "passed", isTemporary: drill.isTemporary,
                gateway: drill.gateway, entry: results.entry)
        }
    }
}
