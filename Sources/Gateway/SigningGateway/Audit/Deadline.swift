import SigningKit

/// A time at which a state ends permanently, such as the overlap of a retiring key.
struct Deadline: Hashable, Sendable {
    let time: Timestamp
    /// `ClockMonitor.stepped` when the deadline was set, in milliseconds. Nil for a deadline of an earlier process.
    let stepped: Int64?
}
