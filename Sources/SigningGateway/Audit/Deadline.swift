import SigningKit

/// A time at which something ends for good, such as the overlap of a retiring key.
struct Deadline: Hashable, Sendable {
    let time: Timestamp
    /// `ClockMonitor.stepped` when the deadline was set, in milliseconds. Nil for a deadline that an earlier process set.
    let stepped: Int64?
}
