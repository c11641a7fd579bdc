import AuditKit
import CLinux
import ComplianceReport
import GatewayConfiguration
import TransparencyLog

/// Verifies an audit log, takes its newest checkpoint as a report's anchor, and compares drill records with it.
struct AuditSurvey {
    let audit: GatewayConfiguration.Audit?
    let verifies: Bool
    /// Nil if the configuration has no directory for drill records.
    let drills: DrillSurvey?

    var findings: (audit: AuditFindings, drills: DrillFindings) {
        guard let audit else { return (.off, unverified("There is no audit log that could prove a record.")) }
        do {
            let reader = try audit.location.read()
            defer { reader.close() }
            let verifiers = try AuditKeyFile(audit.key.path).publicKeys()
            // Read the head first, so that the verification covers it.
            let head = try reader.head()
            let anchor = try head.map { head in
                let checkpoint = try Checkpoint(SignedNote(parsing: head.note), signedByLogWith: verifiers)
                return ComplianceReport.Anchor(note: head.note, checkpoint)
            }
            guard verifies else {
                let reason = "The audit log, which proves records, was not verified."
                return (.unverified(anchor: anchor), unverified(reason))
            }
            let file = try CheckpointCollection(audit.checkpoints.file.path, isGiven: false)
            let report = try AuditVerifier(
                verifiers, policy: audit.checkpoints.policy?.policy, externals: [file.checkpoints], faultLimit: 20
            ).verify(reader)
            let verified: AuditFindings.Verified = (
                anchor: anchor, entries: report.size, faultCount: report.faultCount,
                faults: report.faults.map { "\($0)" }, externalChecked: report.externalChecked,
                secondPlace: Self.secondPlace(of: audit)
            )
            guard report.faultCount == 0 else {
                return (.verified(verified), unverified("The audit log, which proves records, is not intact."))
            }
            return (.verified(verified), try drills?.findings(reader, head, verifiers) ?? .none)
        } catch {
            let reason = "The audit log \(audit.database.text) cannot be verified. \(error)"
            return (.unread(reason), unverified(reason))
        }
    }

    private func unverified(_ reason: String) -> DrillFindings { drills == nil ? .none : .unverified(reason) }

    private static func secondPlace(of audit: GatewayConfiguration.Audit) -> AuditFindings.CheckpointLocation {
        let checkpoints = audit.checkpoints
        let isApart =
            audit.database.file.map { device(of: checkpoints.file.path) != device(of: $0.path) }
            ?? !audit.location.store.isOnThisMachine(audit.location)
        let passing = volatileFileSystem(of: existing(checkpoints.file.path))
        if isApart, passing == nil { return .otherFileSystem }
        if let endpoint = checkpoints.endpoint { return .sent(place: endpoint) }
        if checkpoints.output != .none { return .sent(place: checkpoints.output.rawValue) }
        guard isApart, let passing else { return .sameFileSystem }
        return .passing(kind: passing)
    }

    /// The type of a file system that loses its files when the machine or the container restarts. Nil for any other
    /// type, and if statfs(2) fails.
    private static func volatileFileSystem(of path: String) -> String? {
        var magic: UInt32 = 0
        guard privyseal_file_system(path, &magic) == 0 else { return nil }
        // From <linux/magic.h>.
        return [0x0102_1994: "tmpfs", 0x8584_58F6: "ramfs", 0x794C_7630: "overlay"][magic]
    }

    private static func device(of path: String) -> UInt64? { FileFacts(existing(path))?.device }

    /// The file, or its directory if there is no file yet.
    private static func existing(_ path: String) -> String {
        FileFacts(path) == nil ? DurableWrite.directory(of: path) : path
    }
}
