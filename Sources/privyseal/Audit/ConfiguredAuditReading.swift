import AuditKit
import Foundation
import GatewayConfiguration
import GatewayHTTP
import TransparencyLog

/// Reads the log of a configuration, with public keys only.
struct ConfiguredAuditReading: AuditReading {
    let verifiers: [NoteVerifier]
    private let audit: GatewayConfiguration.Audit

    init(_ audit: GatewayConfiguration.Audit) {
        self.audit = audit
        verifiers = (try? AuditKeyFile(audit.key.path).publicKeys()) ?? []
    }

    func reader() throws(AuditStoreError) -> any AuditReader {
        try BuiltIns.auditStore.read(at: audit.database.path)
    }

    func externals() throws -> [SignedNote] {
        guard let data = FileManager.default.contents(atPath: audit.checkpoints.file.path) else { return [] }
        return try NoteList(parsing: Array(data)).notes
    }
}
