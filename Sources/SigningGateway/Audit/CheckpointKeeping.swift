import AuditKit

/// Which of the checkpoints that go out the log itself keeps. One a minute would be half a million in a year, each with a
/// signature that `audit verify` looks at; for the place of what was changed fewer do.
///
/// Kept are the first after a start, one an hour, one whenever the log has grown by a part of what it was, which is one entry in a
/// small log and a segment in a large one, and the first with or without a co-signature after others.
struct CheckpointKeeping {
    private static let interval = Duration.seconds(3600)
    /// Of the log's size.
    private static let share = 64

    private var last: (size: Int, isCosigned: Bool, time: ContinuousClock.Instant)?

    /// - Parameter size: of a checkpoint that goes out now.
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
