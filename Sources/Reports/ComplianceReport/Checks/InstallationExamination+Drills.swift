import KeyLifecycle
import SigningKit

/// Checks of the drills. A drill record counts only if the audit log has the drill's result and the record's SHA-256.
extension InstallationExamination {
    /// In days. PCI DSS 4.0.1 §12.10.2 requires a test of the incident response plan every twelve months.
    private static let drillAge = 365
    private static let requirements: [Requirement] = [.pci("12.10.2")]

    /// A key with several places also needs the drill that removes each of them.
    private var scenarios: [String] {
        let hasReplicas = findings.accounts.contains { account in account.keys.contains { !$0.replicas.isEmpty } }
        return DrillFinding.scenarios + (hasReplicas ? ["failover"] : [])
    }

    var drills: [ComplianceCheck] {
        switch findings.drills {
        case .none:
            scenarios.map {
                check($0, .unavailable("The configuration names no directory for the records of drills."))
            }
        case .unverified(let reason): scenarios.map { check($0, .unavailable(reason)) }
        case .read(let evidence):
            scenarios.map { drill($0, evidence) }
                + [unbound(evidence), unreadable(evidence)].compactMap(\.self)
        }
    }

    private func drill(_ scenario: String, _ evidence: DrillEvidence) -> ComplianceCheck {
        let own = evidence.logged.last { $0.id.hasSuffix("Z-\(scenario)") }
        let shared = evidence.shared.filter { $0.drill.scenario == scenario && $0.drill.id.hasSuffix("Z-\(scenario)") }
            .max { $0.drill.id < $1.drill.id }
        // IDs begin with the time.
        if let (drill, entry) = shared, own.map({ $0.id < drill.id }) ?? true {
            return check(scenario, verdict(drill), evidence: "the drills at entry \(entry) of the log of the fleet")
        }
        guard let logged = own else {
            let count = evidence.records.count { $0.scenario == scenario }
            return check(
                scenario,
                .fail(
                    count == 0 ? "never" : "\(count) not in the audit log",
                    "Run privyseal drill run \(scenario) with --config, so that the audit log has an entry for it."),
                evidence: evidence.directory)
        }
        let place = "entry \(logged.entry) of the audit log"
        guard let record = evidence.records.first(where: { $0.id == logged.id && $0.digest == logged.digest }) else {
            return check(
                scenario,
                .fail(
                    "\(logged.isPassed ? "passed" : "failed"), without its record",
                    "Drill \(logged.id) is in the audit log. Its record in \(evidence.directory) is missing, or was "
                        + "changed since."),
                evidence: place)
        }
        return check(
            scenario, verdict(record, isPassed: record.isPassed && logged.isPassed, scenario),
            evidence: "\(place), and \(record.file)")
    }

    private func verdict(_ record: DrillFinding, isPassed: Bool, _ scenario: String) -> ComplianceVerdict {
        let location = record.isTemporary ? "on a throw-away gateway" : "on the gateway that serves"
        return verdict(record.id, record.ended, isPassed, location, record.isTemporary) { value in
            if let fault = record.fault { return .fail(value, fault) }
            guard record.scenario == scenario else {
                return .fail(
                    value, "Drill \(record.id) is one of the scenario \(record.scenario), according to its record.")
            }
            return nil
        }
    }

    private func verdict(_ drill: FleetDrill) -> ComplianceVerdict {
        let location = drill.isTemporary ? "on a throw-away gateway of \(drill.gateway)" : "on \(drill.gateway)"
        return verdict(drill.id, drill.ended, drill.isPassed, location, drill.isTemporary) { _ in nil }
    }

    /// - Parameter fault: gets the value of the check, and returns why the drill does not count; nil if it counts.
    private func verdict(
        _ id: String, _ ended: Timestamp, _ isPassed: Bool, _ location: String, _ isTemporary: Bool,
        fault: (String) -> ComplianceVerdict?
    ) -> ComplianceVerdict {
        guard ended <= now else {
            return .fail(
                "ended at \(ended.text)",
                "That is after this report: a clock was changed. Check the record of drill \(id).")
        }
        let age = ended.days(until: now)
        let value = "\(isPassed ? "passed" : "failed") \(age) days ago, \(location)"
        if let fault = fault(value) { return fault }
        let software = " Its keys were in a software token: it rehearsed people and the gateway."
        let detail = "Drill \(id), ended \(ended.text).\(isTemporary ? software : "")"
        return isPassed && age <= Self.drillAge ? .pass(value, detail) : .fail(value, detail)
    }

    private func check(_ scenario: String, _ verdict: ComplianceVerdict, evidence: String = "none") -> ComplianceCheck {
        ComplianceCheck(
            "drills.\(scenario)", "Was \(scenario) rehearsed?", Self.requirements,
            expected: "passed, at most \(Self.drillAge) days ago", verdict, evidence: evidence)
    }

    /// Records without a log entry prove nothing: older ones, ones of another installation, and ones written by hand.
    private func unbound(_ evidence: DrillEvidence) -> ComplianceCheck? {
        let strangers = evidence.records.filter { record in
            !evidence.logged.contains { $0.id == record.id && $0.digest == record.digest }
        }
        guard !strangers.isEmpty else { return nil }
        return ComplianceCheck(
            "drills.bound", "Does the audit log have an entry for each record?", Self.requirements,
            expected: "of each",
            .unavailable(
                "These records prove nothing and were not counted: "
                    + strangers.map(\.id).joined(separator: ", ") + ".", value: "not of \(strangers.count)"),
            evidence: evidence.directory)
    }

    private func unreadable(_ evidence: DrillEvidence) -> ComplianceCheck? {
        guard !evidence.complaints.isEmpty else { return nil }
        let (complaints, count) = (evidence.complaints.joined(separator: " "), evidence.complaints.count)
        return ComplianceCheck(
            "drills.readable", "Can all records of drills be read?", Self.requirements, expected: "all of them",
            .unavailable(complaints, value: "\(count) cannot"), evidence: evidence.directory)
    }
}
