import AuditKit
import Foundation
import GatewayConfiguration
import GatewayHTTP
import TransparencyLog

/// Reads the log of a configuration, with public keys only.
struct ConfiguredAuditReading: AuditReading {
    private let audit: GatewayConfiguration.Audit

    init(_ audit: GatewayConfiguration.Audit) {
        self.audit = audit
    }

    func reader() throws(AuditStoreError) -> any AuditReader {
        try BuiltIns.auditStore.read(at: audit.database.path)
    }

    func verifiers() throws -> [NoteVerifier] { try AuditKeyFile(audit.key.path).publicKeys() }

    func externals() throws -> [SignedNote] {
        let path = audit.checkpoints.file.path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw AuditSetupError("The checkpoints in \(path) cannot be read.")
        }
        return try NoteList(parsing: Array(data)).notes
    }
}
