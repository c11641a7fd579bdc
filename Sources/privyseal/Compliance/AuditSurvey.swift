import AuditKit
import ComplianceReport
import GatewayConfiguration
import TransparencyLog

/// Verifies the audit log of a configuration, and takes its newest checkpoint to anchor a report to.
struct AuditSurvey {
    private let audit: GatewayConfiguration.Audit?
    private let verifies: Bool

    init(_ audit: GatewayConfiguration.Audit?, verifies: Bool) {
        self.audit = audit
        self.verifies = verifies
    }

    var findings: AuditFindings {
        guard let audit else { return .off }
        do {
            let reader = try BuiltIns.auditStore.read(at: audit.database.path)
            defer { reader.close() }
            let verifiers = try AuditKeyFile(audit.key.path).publicKeys()
            // Before the verification, so that it covers it.
            let anchor = try reader.head().map { try Self.anchor($0, verifiers) }
            guard verifies else { return .unverified(anchor: anchor) }
            let file = try CheckpointCollection(audit.checkpoints.file.path, isGiven: false)
            let report = try AuditVerifier(verifiers, externals: [file.checkpoints], faultLimit: 20).verify(reader)
            return .verified(
                AuditFindings.Verified(
                    anchor: anchor, entries: report.size, faultCount: report.faultCount,
                    faults: report.faults.map { "\($0)" },
                    externalChecked: file.isBeside(audit.database.path) ? 0 : report.externalChecked))
        } catch {
            return .unread("The audit log \(audit.database.path) cannot be verified. \(error)")
        }
    }

    private static func anchor(_ head: AuditHead, _ verifiers: [NoteVerifier]) throws -> ComplianceReport.Anchor {
        let checkpoint = try Checkpoint(SignedNote(parsing: head.note), signedByLogWith: verifiers)
        return ComplianceReport.Anchor(
            origin: checkpoint.origin, size: checkpoint.size, root: Hexadecimal.text(checkpoint.root.bytes),
            note: head.note)
    }
}
