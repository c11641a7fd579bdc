import AuditKit
import GatewayConfiguration
import SigningGateway

/// Takes archived segments out of a log: first the entry that says so, and when that is durable, the segments.
///
/// Between the two nothing can be lost: an entry that tells of segments which are still there is no fault, and the next
/// call drops them.
struct ArchiveDropping {
    private let settings: AuditSource.Settings

    init(_ settings: AuditSource.Settings) {
        self.settings = settings
    }

    /// - Throws: what is wrong, already said.
    func drop(_ segments: Range<Int>) async throws {
        try await record(segments)
        let location = settings.audit.database.path
        let store = try AuditAttempt.run { () throws(AuditStoreError) in
            try BuiltIns.auditStore.open(at: location, patience: Self.patience)
        }
        defer { store.close() }
        for segment in segments {
            // One by one: a running gateway waits for its turn no longer than a segment takes.
            try AuditAttempt.run { () throws(AuditStoreError) in
                try store.write { transaction throws(AuditStoreError) in
                    try transaction.drop(segmentsBefore: segment + 1)
                }
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
    private static let patience = Duration.seconds(30)
}
