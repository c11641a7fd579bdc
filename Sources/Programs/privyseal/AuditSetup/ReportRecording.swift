import AuditKit
import AuditLog
import Crypto
import Encodings
import GatewayConfiguration
import Signing

/// Records in the audit log that a document was made. So a reader can see that it is not one of several.
enum ReportRecording {
    /// Prints a warning if recording fails; the document remains valid. `bytes` are those of its file.
    ///
    /// - Returns: the inclusion proof of the document's entry; nil without a log, or if recording failed.
    @discardableResult
    static func record(
        _ subject: String, id: String, bytes: [UInt8], hasPassed: Bool, in configuration: GatewayConfiguration
    ) async -> InclusionProofDocument? {
        guard let audit = configuration.audit else { return nil }
        let digest = Array(SHA256.hash(data: bytes))
        do {
            let log = try AuditComposition(audit, of: configuration).open(isServing: false)
            let event = AuditEvent.report(
                subject: subject, id: id, digest: digest, hasPassed: hasPassed, actor: Client.operator.name)
            try await finally(log.close) { try await log.record(event) }
        } catch {
            StandardError.print("warning: the document could not be recorded in the audit log: \(error)")
            return nil
        }
        do {
            return try proof(of: id, Base64.url.text(digest), audit)
        } catch {
            StandardError.print(
                "warning: the audit log records the document, but the proof of its entry failed: \(error)")
            return nil
        }
    }

    /// Searches only the last entries; others may follow the document's entry.
    private static func proof(
        of id: String, _ digest: String, _ audit: GatewayConfiguration.Audit
    ) throws -> InclusionProofDocument {
        let reader = try audit.location.read()
        defer { reader.close() }
        let head = try AuditProver(reader).checkpoint()
        var query = AuditQuery()
        query.terms = [.kind: "report"]
        query.indexes = max(0, head.size - AuditSegment.size)..<head.size
        var found: Int?
        try reader.search(query) { entry in
            guard let fields = EntryFields(entry.body), fields.text("id") == id, fields.text("digest") == digest else {
                return true
            }
            found = entry.index
            return false
        }
        guard let found else { throw CommandError("Its entry is not in the log.") }
        return try AuditProver(reader).inclusion(of: found, in: head)
    }
}
