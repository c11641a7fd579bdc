internal import SigningKit

/// What is on record: the audit log, and drills.
extension InstallationExamination {
    private static let log: [Requirement] = [.nist130("8.2"), .nist57("8.2"), .pci("3.6.1")]

    var audit: ComplianceReport.Section {
        var facts: [ComplianceReport.Fact] = []
        if let anchor = findings.audit.anchor {
            facts = [
                .init("Log", anchor.origin), .init("Entries", "\(anchor.size)"), .init("Root", anchor.root),
            ]
        }
        return ComplianceReport.Section(id: "audit", title: "Audit log", facts: facts, checks: auditChecks)
    }

    private var auditChecks: [ComplianceCheck] {
        let (id, asks, expected) = ("audit.intact", "Is the record of all signatures whole and unchanged?", "intact")
        switch findings.audit {
        case .off:
            return [
                ComplianceCheck(
                    id, asks, Self.log, value: "there is none", expected: expected, .fail,
                    detail: "Add audit to the configuration.", evidence: "the configuration")
            ]
        case .unread(let reason):
            return [
                ComplianceCheck(
                    id, asks, Self.log, value: nil, expected: expected, .unavailable, detail: reason, evidence: "none")
            ]
        case .unverified:
            return [
                ComplianceCheck(
                    id, asks, Self.log, value: nil, expected: expected, .unavailable,
                    detail: "It was left out by --no-log-verification.", evidence: "none")
            ]
        case .verified(let verified): return [intact(verified, id, asks, expected), secondPlace(verified)]
        }
    }

    private func intact(
        _ verified: AuditFindings.Verified, _ id: String, _ asks: String, _ expected: String
    ) -> ComplianceCheck {
        let isIntact = verified.faultCount == 0
        return ComplianceCheck(
            id, asks, Self.log,
            value: isIntact ? "intact, \(verified.entries) entries" : "\(verified.faultCount) faults",
            expected: expected,
            isIntact ? .pass : .fail, detail: isIntact ? nil : verified.faults.joined(separator: " "),
            evidence: verified.anchor.map { "verified up to the checkpoint over \($0.size) entries, root \($0.root)" }
                ?? "verified; it has no entry yet")
    }

    /// An older copy of a whole log is right in itself.
    private func secondPlace(_ verified: AuditFindings.Verified) -> ComplianceCheck {
        ComplianceCheck(
            "audit.secondPlace", "Was it compared with checkpoints that are kept apart from it?", Self.log,
            value: "\(verified.externalChecked) compared", expected: "1 or more",
            verified.externalChecked > 0 ? .pass : .unavailable,
            detail: verified.externalChecked > 0
                ? "Whether the file of checkpoints is out of reach for who can write the log is not seen from here."
                : "Without one, an older copy of the whole log cannot be told from a newer one. A file in the log's own directory is none.",
            evidence: "the file of audit.checkpoints")
    }

    // MARK: Drills

    /// In days: what a rehearsal is good for (PCI DSS 4.0.1 §12.10.2 wants incident response tested each year).
    private static let drillAge = 365

    var drills: ComplianceReport.Section {
        ComplianceReport.Section(
            id: "drills", title: "Drills", facts: [], checks: DrillFinding.scenarios.map(drill) + complaints)
    }

    private func drill(_ scenario: String) -> ComplianceCheck {
        let (id, asks) = ("drills.\(scenario)", "Was \(scenario) rehearsed?")
        let expected = "passed, at most \(Self.drillAge) days ago"
        let requirements: [Requirement] = [.nist130("10"), .pci("3.7.5")]
        guard case .read(let directory, let drills, _) = findings.drills else {
            return ComplianceCheck(
                id, asks, requirements, value: nil, expected: expected, .unavailable,
                detail: "The configuration names no directory for the records of drills.", evidence: "none")
        }
        guard let last = drills.filter({ $0.scenario == scenario }).max(by: { $0.ended < $1.ended }) else {
            return ComplianceCheck(
                id, asks, requirements, value: "never", expected: expected, .fail,
                detail: "Run privyseal drill run \(scenario).", evidence: directory)
        }
        let age = max(last.ended.days(until: now), 0)
        let isGood = last.isPassed && age <= Self.drillAge
        return ComplianceCheck(
            id, asks, requirements, value: "\(last.isPassed ? "passed" : "failed") \(age) days ago", expected: expected,
            isGood ? .pass : .fail, detail: "Drill \(last.id), ended \(last.ended.text).", evidence: last.file)
    }

    private var complaints: [ComplianceCheck] {
        guard case .read(let directory, _, let complaints) = findings.drills, !complaints.isEmpty else { return [] }
        return [
            ComplianceCheck(
                "drills.readable", "Can all records of drills be read?", [.nist130("10")],
                value: "\(complaints.count) cannot", expected: "all of them", .unavailable,
                detail: complaints.joined(separator: " "), evidence: directory)
        ]
    }
}
