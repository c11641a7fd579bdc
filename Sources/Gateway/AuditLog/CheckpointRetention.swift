import AuditKit

/// Decides which published checkpoints the log stores. One a minute would be half a million in a year, and `audit
/// verify` verifies the signature of each. Fewer are enough to locate a change.
///
/// The log stores the first checkpoint after a start, then one an hour, and one when co-signatures begin or end. It
/// also stores one when it has grown by about 1/64: by one entry for a small log, by one segment at most.
struct CheckpointRetention {
    private static let interval = Duration.seconds(3600)
    private static let share = 64

    private var last: (size: Int, isCosigned: Bool, time: ContinuousClock.Instant)?

    /// - Parameter size: the number of entries that the new checkpoint covers.
    mutating func keeps(_ size: Int, isCosigned: Bool, at now: ContinuousClock.Instant = .now) -> Bool {
        if let last, last.time.duration(to: now) < Self.interval, last.isCosigned == isCosigned,
            size - last.size < min(AuditSegment.size, last.size / Self.share + 1)
        {
            return false
        }
        last = (size, isCosigned, now)
        return true
    }
}
