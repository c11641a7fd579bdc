/// The durations that a drill measures, in milliseconds; nil if the scenario does not have one.
public struct DrillTimings: Codable, Sendable, Equatable {
    public var detection, changeOver, stop, recovery, restoration: Int?
}

/// A duration that a drill may measure.
struct DrillTiming: Sendable {
    let title: String
    /// The start and the end of the measurement.
    let meaning: String
    let value: any KeyPath<DrillTimings, Int?> & Sendable
    /// In milliseconds. A longer duration is a deviation. Nil if the duration depends on the scenario.
    var limit: Int?
    /// The limit in a fleet, whose gateways agree on a change of the active key first; nil if it is the same.
    var limitInFleet: Int?

    static let all = [
        DrillTiming(title: "Detection", meaning: "from the failure to its first sign", value: \.detection),
        DrillTiming(
            title: "Change-over", meaning: "from the order to the first answer of the new key", value: \.changeOver,
            limit: 1000, limitInFleet: 4000),
        DrillTiming(title: "Stop", meaning: "from the order until the key was stopped", value: \.stop, limit: 1000),
        DrillTiming(title: "Recovery", meaning: "from the failure to the first answer after it", value: \.recovery),
        DrillTiming(
            title: "Restoration", meaning: "from the repair to the first answer after it", value: \.restoration,
            limit: 5000),
    ]
}
