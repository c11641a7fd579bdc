public import SigningKit

/// The wall clock was set: it shows another time than the one that the monotonic clock leads to.
public struct ClockStep: Equatable, Sendable {
    /// What the wall clock would show without the step.
    public let before: Timestamp
    /// What it shows.
    public let after: Timestamp

    /// Negative when the clock was set back.
    public var milliseconds: Int64 { after.milliseconds - before.milliseconds }

    /// For people: "90061 s forward".
    var text: String {
        let amount = milliseconds.magnitude
        return "\(amount / 1000).\((amount % 1000) / 100) s \(milliseconds < 0 ? "back" : "forward")"
    }
}
