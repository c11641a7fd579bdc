/// Spans of a drill in milliseconds, each from one event to another.
public enum DrillTiming: String, CaseIterable, Sendable {
    /// From the trouble to the first sign of it: a request that was refused, or `/readyz` that says no.
    case detection
    /// From the order to the first answer that the new key signed.
    case changeOver
    /// From the order to stop a key until the gateway answered that it is stopped.
    case stop
    /// From the trouble until service was back: the first answer after the outage.
    case recovery
    /// From what mended it, such as the token that came back, to the first answer after it.
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

    /// In milliseconds: a longer span is a deviation. Nil where the span depends on the scenario.
    public var limit: Int? {
        switch self {
        case .changeOver, .stop: 1000
        case .detection, .recovery: nil
        case .restoration: 5000
        }
    }

    /// From what to what it was measured.
    public var meaning: String {
        switch self {
        case .detection: "from the trouble to the first sign of it"
        case .changeOver: "from the order to the first answer of the new key"
        case .stop: "from the order until the key was stopped"
        case .recovery: "from the trouble to the first answer after it"
        case .restoration: "from what mended it to the first answer after it"
        }
    }
}
