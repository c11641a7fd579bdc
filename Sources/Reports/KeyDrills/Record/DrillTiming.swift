/// The durations that a drill measures, in milliseconds.
public enum DrillTiming: String, CaseIterable, Sendable {
    /// From the fault to its first sign: a refused request, or a failing `/readyz`.
    case detection
    /// From the command to the first answer signed by the new key.
    case changeOver
    /// From the command to stop a key to the gateway's confirmation.
    case stop
    /// From the fault to the first answer after the outage.
    case recovery
    /// From the repair, such as the return of the token, to the next answer.
    case restoration

    public var title: String {
        switch self {
        case .detection: "Detection"
        case .changeOver: "Change-over"
        case .stop: "Stop"
        case .recovery: "Recovery"
        case .restoration: "Restoration"
        }
    }

    /// In milliseconds. A longer duration is a deviation. Nil if the duration depends on the scenario.
    public var limit: Int? {
        switch self {
        case .changeOver, .stop: 1000
        case .detection, .recovery: nil
        case .restoration: 5000
        }
    }

    /// The start and the end of the measurement.
    public var meaning: String {
        switch self {
        case .detection: "from the failure to its first sign"
        case .changeOver: "from the order to the first answer of the new key"
        case .stop: "from the order until the key was stopped"
        case .recovery: "from the failure to the first answer after it"
        case .restoration: "from the repair to the first answer after it"
        }
    }
}
