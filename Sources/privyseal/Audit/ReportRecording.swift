import AuditKit
import Crypto
import GatewayConfiguration
import SigningGateway

/// Writes into the audit log that a document was made: whoever gets it shown can see that it is not one of several.
enum ReportRecording {
    /// Says so where it cannot be recorded; the document is good all the same.
    ///
    /// - Parameter bytes: of its file.
    static func record(
        _ subject: String, id: String, bytes: [UInt8], hasPassed: Bool, in configuration: GatewayConfiguration
    ) async {
        guard let audit = configuration.audit else { return }
        do {
            let log = try AuditComposition(audit, of: configuration).open(isServing: false)
            let record = ReportRecord(
                subject: subject, id: id, digest: Array(SHA256.hash(data: bytes)),
                outcome: hasPassed ? "passed" : "failed", actor: Client.operator.name)
            var failure: AuditError?
            do throws(AuditError) { try await log.record(.report(record)) } catch { failure = error }
            await log.close()
            if let failure { throw failure }
        } catch {
            StandardError.print("warning: that it was made could not be recorded in the audit log: \(error)")
        }
    }
}
