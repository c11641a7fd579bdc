public import SigningKit

/// A step of the wall clock: it differs from the time that the monotonic clock predicts.
public struct ClockStep: Equatable, Sendable {
    /// The wall clock without the step.
    public let before: Timestamp
    /// The wall clock after the step.
    public let after: Timestamp

    /// Negative if the clock was set back.
    public var milliseconds: Int64 { after.milliseconds - before.milliseconds }

    /// For messages: "90061.0 s forward".
    var text: String {
        let amount = milliseconds.magnitude
        return "\(amount / 1000).\((amount % 1000) / 100) s \(milliseconds < 0 ? "back" : "forward")"
    }
}
