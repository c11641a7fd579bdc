import AuditKit
import AuditLog
import GatewayConfiguration
import Signing

/// Durably records the archiving, and then drops the segments from the log. A stop in between loses nothing: the entry
/// is valid while the segments exist, and the next call drops them.
struct ArchiveDropping {
    private let settings: AuditSource.Settings

    init(_ settings: AuditSource.Settings) {
        self.settings = settings
    }

    func drop(_ segments: Range<Int>) async throws {
        try await record(segments)
        let location = settings.audit.database.path
        let store = try BuiltIns.auditStore.open(at: location, timeout: Self.timeout)
        defer { store.close() }
        for segment in segments {
            // One transaction for each segment, so that a running gateway waits for one segment at most.
            try store.write { transaction throws(AuditStoreError) in
                try transaction.drop(segmentsBefore: segment + 1)
            }
        }
    }

    private func record(_ segments: Range<Int>) async throws {
        guard let log = try AuditComposition.open(settings.configuration, isServing: false) else { return }
        let event = AuditEvent.archive(
            from: segments.lowerBound * AuditSegment.size, to: segments.upperBound * AuditSegment.size,
            actor: Client.operator.name)
        do throws(AuditError) {
            try await log.record(event)
        } catch {
            await log.close()
            throw StandardError.failure("Nothing was dropped, because it could not be recorded. \(error)")
        }
        await log.close()
    }

    /// A gateway under load writes all the time.
    private static let timeout = Duration.seconds(30)
}
