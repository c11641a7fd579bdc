import SigningKit

extension InstallationExamination {
    var signers: ComplianceReport.Section {
        ComplianceReport.Section(id: "signers", title: "Signers", checks: signerChecks)
    }

    private var signerChecks: [ComplianceCheck] {
        switch findings.signers {
        case .unknown(let reason): [records(.unavailable(reason))]
        case .running(let processes, let inProcess, let count):
            [records(verdict(count))]
                + Dictionary(grouping: processes, by: \.name).sorted { $0.key < $1.key }.map(protection)
                + inProcess.map(withoutProtection)
        }
    }

    private func verdict(_ count: Int) -> ComplianceVerdict {
        if case .off = findings.audit { return .unavailable("There is no audit log.") }
        return count == 0 ? .pass("0") : .fail("\(count)", Self.bypassed)
    }

    private static let bypassed =
        "The keys made signatures that the audit log does not have. Suspend the keys, and find out who asked for them: "
        + "docs/operations.md, Signers."

    private func records(_ verdict: ComplianceVerdict) -> ComplianceCheck {
        ComplianceCheck(
            "signers.withoutRecord", "Does the audit log have every signature since the start of the gateway?",
            expected: "0 signatures without a record", verdict,
            evidence: "the counts of the signers, compared with those of the gateway")
    }

    /// The processes of a signer should not differ. If they do, the least protected one counts.
    private func protection(of name: String, _ processes: [SignerProcessFindings]) -> ComplianceCheck {
        let least = processes.max { $0.missing.count < $1.missing.count }
        let layers = least?.layers.joined(separator: ", ") ?? ""
        let reasons = (least?.missing ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return isolation(
            name,
            reasons.isEmpty ? .pass(layers) : .fail(layers, "Missing layers: " + reasons.joined(separator: "; ")),
            evidence: (["reported by the processes \(processes.map { "\($0.process)" }.joined(separator: ", "))"]
                + Set(processes.flatMap(\.limits)).sorted()).joined(separator: "; "))
    }

    private func withoutProtection(_ name: String) -> ComplianceCheck {
        isolation(
            name, .fail("in the gateway's process", "Remove inProcess: true from the signer \(name)."),
            evidence: "the configuration")
    }

    private func isolation(_ name: String, _ verdict: ComplianceVerdict, evidence: String) -> ComplianceCheck {
        ComplianceCheck(
            "signers.protection.\(name)", "Is the signer \(name) a process of its own, with every layer of protection?",
            expected: "every layer", verdict, evidence: evidence)
    }
}
