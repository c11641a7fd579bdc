import AuditKit
import ComplianceReport
import GatewayConfiguration
import KeyLifecycle

/// Reads the results of drills on the other gateways of a fleet. The verified log of the fleet proves them, and the log of
/// the gateway has the entry of each.
struct FleetDrillSurvey {
    let fleetLog: GatewayConfiguration.Audit
    /// The origin of the log of this gateway, whose drills have records here.
    let own: String

    /// Adds the results, or the reason why they do not count.
    func add(to evidence: inout DrillEvidence) {
        do {
            for (drill, entry) in try results() {
                do {
                    try check(drill)
                    evidence.shared.append((drill, entry))
                } catch {
                    evidence.complaints.append(
                        "The drill \(drill.id) of the gateway \(drill.gateway) does not count: \(error)")
                }
            }
        } catch {
            evidence.complaints.append("The drills of the other gateways of the fleet do not count: \(error)")
        }
    }

    /// An archived entry cannot be compared.
    private func check(_ drill: FleetDrill) throws {
        let reader = try fleetLog.location(of: drill.gateway).read()
        defer { reader.close() }
        guard drill.entry >= (try reader.firstIndex()) else { return }
        guard let stored = try reader.entry(at: drill.entry), let logged = LoggedDrill(stored.body, at: drill.entry),
            (logged.id, logged.digest, logged.isPassed) == (drill.id, drill.digest, drill.isPassed)
        else { throw CommandError("Entry \(drill.entry) of its log is not about it.") }
    }

    private func results() throws -> [(drill: FleetDrill, entry: Int)] {
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
        return results.drills.filter { $0.gateway != own }.map { ($0, results.entry) }
    }
}
