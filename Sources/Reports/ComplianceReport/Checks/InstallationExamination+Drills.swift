import SigningKit

/// Checks of the drills. A drill record counts only if the audit log has the drill's result and the record's SHA-256.
extension InstallationExamination {
    /// In days. PCI DSS 4.0.1 §12.10.2 requires a test of the incident response plan every twelve months.
    private static let drillAge = 365
    private static let requirements: [Requirement] = [.pci("12.10.2")]

    var drills: [ComplianceCheck] {
        DrillFinding.scenarios.map(drill) + [unbound, unreadable].compactMap(\.self)
    }

    private func drill(_ scenario: String) -> ComplianceCheck {
        let evidence: DrillEvidence
        switch findings.drills {
        case .none:
            return check(
                scenario, nil, .unavailable, "The configuration names no directory for the records of drills.")
        case .unverified(let reason): return check(scenario, nil, .unavailable, reason)
        case .read(let read): evidence = read
        }
        guard let logged = evidence.logged.last(where: { $0.id.hasSuffix("Z-\(scenario)") }) else {
            let count = evidence.records.count { $0.scenario == scenario }
            return check(
                scenario, count == 0 ? "never" : "\(count) not in the audit log", .fail,
                "Run privyseal drill run \(scenario) with --config, so that the audit log has an entry for it.",
                evidence: evidence.directory)
        }
        let place = "entry \(logged.entry) of the audit log"
        guard let record = evidence.records.first(where: { $0.id == logged.id && $0.digest == logged.digest }) else {
            return check(
                scenario, "\(logged.isPassed ? "passed" : "failed"), without its record", .fail,
                "Drill \(logged.id) is in the audit log. Its record in \(evidence.directory) is missing, or was "
                    + "changed since.",
                evidence: place)
        }
        return judge(
            record, isPassed: record.isPassed && logged.isPassed, scenario, evidence: "\(place), and \(record.file)")
    }

    private func judge(
        _ record: DrillFinding, isPassed: Bool, _ scenario: String, evidence: String
    ) -> ComplianceCheck {
        let location = record.isTemporary ? "on a throw-away gateway" : "on the gateway that serves"
        guard record.ended <= now else {
            return check(
                scenario, "ended at \(record.ended.text)", .fail,
                "That is after this report: a clock was changed. Check the record of drill \(record.id).",
                evidence: evidence)
        }
        let age = record.ended.days(until: now)
        let value = "\(isPassed ? "passed" : "failed") \(age) days ago, \(location)"
        if let fault = record.fault { return check(scenario, value, .fail, fault, evidence: evidence) }
        guard record.scenario == scenario else {
            let detail = "Drill \(record.id) is one of the scenario \(record.scenario), according to its record."
            return check(scenario, value, .fail, detail, evidence: evidence)
        }
        let software = " Its keys were in a software token: it rehearsed people and the gateway."
        return check(
            scenario, value, isPassed && age <= Self.drillAge ? .pass : .fail,
            "Drill \(record.id), ended \(record.ended.text).\(record.isTemporary ? software : "")",
            evidence: evidence)
    }

    private func check(
        _ scenario: String, _ value: String?, _ result: ComplianceCheck.Result, _ detail: String,
        evidence: String = "none"
    ) -> ComplianceCheck {
        ComplianceCheck(
            "drills.\(scenario)", "Was \(scenario) rehearsed?", Self.requirements, value: value,
            expected: "passed, at most \(Self.drillAge) days ago", result, detail: detail, evidence: evidence)
    }

    /// Records without a log entry prove nothing: older ones, ones of another installation, and ones written by hand.
    private var unbound: ComplianceCheck? {
        guard case .read(let evidence) = findings.drills else { return nil }
        let strangers = evidence.records.filter { record in
            !evidence.logged.contains { $0.id == record.id && $0.digest == record.digest }
        }
        guard !strangers.isEmpty else { return nil }
        return ComplianceCheck(
            "drills.bound", "Does the audit log have an entry for each record?", Self.requirements,
            value: "not of \(strangers.count)", expected: "of each", .unavailable,
            detail: "These records prove nothing and were not counted: "
                + strangers.map(\.id).joined(separator: ", ") + ".",
            evidence: evidence.directory)
    }

    private var unreadable: ComplianceCheck? {
        guard case .read(let evidence) = findings.drills, !evidence.complaints.isEmpty else { return nil }
        return ComplianceCheck(
            "drills.readable", "Can all records of drills be read?", Self.requirements,
            value: "\(evidence.complaints.count) cannot", expected: "all of them", .unavailable,
            detail: evidence.complaints.joined(separator: " "), evidence: evidence.directory)
    }
}
