import SigningKit

extension InstallationExamination {
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
        switch findings.audit {
        case .off: [intact(.fail("there is none", "Add audit to the configuration."), "the configuration")]
        case .unread(let reason): [intact(.unavailable(reason), "none")]
        case .unverified: [intact(.unavailable("Verification was skipped (--no-log-verification)."), "none")]
        case .verified(let verified): [intact(verified), secondPlace(verified)]
        }
    }

    private func intact(_ verified: AuditFindings.Verified) -> ComplianceCheck {
        let evidence =
            verified.anchor.map { "verified up to the checkpoint over \($0.size) entries, root \($0.root)" }
            ?? "verified; it has no entry yet"
        if verified.faultCount > 0 {
            return intact(.fail("\(verified.faultCount) faults", verified.faults.joined(separator: " ")), evidence)
        }
        if verified.entries == 0 {
            let reason = "A log without entries may have replaced another log."
            return intact(.unavailable(reason, value: "no entry"), "the log's database")
        }
        return intact(.pass("intact, \(verified.entries) entries"), evidence)
    }

    private func intact(_ verdict: ComplianceVerdict, _ evidence: String) -> ComplianceCheck {
        ComplianceCheck(
            "audit.intact", "Is the record of all signatures complete and unchanged?", expected: "intact", verdict,
            evidence: evidence)
    }

    private static let apart =
        "Name a file on another disk in audit.checkpoints, or send checkpoints to another machine."

    /// An older copy of a whole log verifies. Only a checkpoint stored elsewhere shows that the copy is old.
    private func secondPlace(_ verified: AuditFindings.Verified) -> ComplianceCheck {
        let compared = "\(verified.externalChecked) compared"
        let unseen =
            "The file is on another file system. This report cannot see whether that is on another disk, or whether a "
            + "person who can write the log can also write the file."
        let verdict: ComplianceVerdict =
            switch verified.secondPlace {
            case .otherFileSystem where verified.externalChecked > 0: .pass(compared, unseen)
            case .otherFileSystem:
                .unavailable("The file holds no checkpoint that can be compared yet.", value: compared)
            case .sameFileSystem:
                .fail(
                    "\(compared), on the file system of the log",
                    "Restoring an older copy of the disk restores both. \(Self.apart)")
            case .passing(let kind):
                .fail(
                    "\(compared), on \(kind)",
                    "The file is lost when the machine or the container restarts. \(Self.apart)")
            case .sent(let place):
                .unavailable(
                    "This report cannot see what arrived there. Compare it there: privyseal audit verify "
                        + "--checkpoints.", value: "sent to \(place)")
            }
        return ComplianceCheck(
            "audit.secondPlace", "Was it compared with checkpoints that are stored separately?",
            expected: "1 or more, on another file system", verdict, evidence: "the file of audit.checkpoints")
    }
}
